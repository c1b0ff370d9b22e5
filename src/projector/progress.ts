import { logStart, type Position } from "../kernel/ports/event-store.ts";

/** How far the read models have come, and the callers that wait for them. */
export class Progress {
  #applied: Position = logStart;
  #wanted: Position = logStart;
  readonly #waiters = new Set<{ readonly position: Position; readonly reached: () => void }>();

  /** The position that the read models cover. */
  get applied(): Position {
    return this.#applied;
  }

  /** Whether a caller waits for a later position. */
  get isAwaited(): boolean {
    return this.#wanted > this.#applied;
  }

  /** A caller waits for `position`. */
  want(position: Position): void {
    if (position > this.#wanted) this.#wanted = position;
  }

  /** The read models cover `position` now: less than before where they were dropped. */
  reach(position: Position): void {
    this.#applied = position;
    for (const waiter of this.#waiters) {
      if (waiter.position > position) continue;
      this.#waiters.delete(waiter);
      waiter.reached();
    }
  }

  /** Resolves once the read models cover `position`. */
  covered(position: Position): Promise<void> {
    if (position <= this.#applied) return Promise.resolve();
    return new Promise((reached) => this.#waiters.add({ position, reached }));
  }
}
