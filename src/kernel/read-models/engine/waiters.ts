import type { Clock } from "../../ports/clock.ts";
import type { Position } from "../../ports/event-store.ts";

interface Waiter {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** Callers that wait for a position, each answered as soon as it is reached. */
export class Waiters {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  wait(position: Position, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(timeoutMs, () => waiter.settle(false));
      const waiter = {
        position,
        settle: (reached: boolean) => {
          timer.cancel();
          this.#waiting.delete(waiter);
          resolve(reached);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  reached(position: Position): void {
    for (const waiter of this.#waiting) if (waiter.position <= position) waiter.settle(true);
  }

  close(): void {
    for (const waiter of this.#waiting) waiter.settle(false);
  }
}
