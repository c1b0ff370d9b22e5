import type { Clock } from "../../ports/clock/clock.ts";
import { logStart, type Position } from "../../ports/event-store.ts";

interface Waiter {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** Those who wait for a position, told as soon as it is reached. */
export class Waiters {
  /** Called with each position somebody begins to wait for. */
  onWaiting: (position: Position) => void = () => undefined;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #reached: Position = logStart;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True once `position` is reached, false after `timeoutMs`. */
  wait(position: Position, timeoutMs: number): Promise<boolean> {
    if (position <= this.#reached) return Promise.resolve(true);
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
      this.onWaiting(position);
    });
  }

  /** Where things are now; back at an earlier place after a reset. */
  reached(position: Position): void {
    this.#reached = position;
    for (const waiter of this.#waiting) if (waiter.position <= position) waiter.settle(true);
  }

  /** Nothing more will be reached. */
  close(): void {
    for (const waiter of this.#waiting) waiter.settle(false);
  }
}
