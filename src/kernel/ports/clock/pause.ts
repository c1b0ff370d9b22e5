import type { Clock } from "./clock.ts";

/** Waits that can be cut short, any number at a time. */
export class Pause {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #ends = new Set<() => void>();

  constructor(clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
  }

  /** Resolves after `ms`, or at {@link end}. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#ends.delete(end);
        timer.cancel();
        resolve();
      };
      const timer = this.#clock.schedule(ms, end);
      this.#ends.add(end);
    });
  }

  /** Ends the waits under way. */
  end(): void {
    for (const end of this.#ends) end();
  }
}
