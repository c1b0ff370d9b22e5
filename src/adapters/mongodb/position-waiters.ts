import type { Clock, Timer } from "../../ports/clock/clock.ts";
import { logStart, type Position } from "../../ports/event-store.ts";

const firstPauseMs = 2;
const longestPauseMs = 50;

interface Waiter {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/**
 * Waits for positions that another process writes. It asks at once for a new waiter, soon again, and ever less often
 * until the next one comes; one question serves all.
 */
export class PositionWaiters {
  readonly #clock: Clock;
  readonly #position: () => Promise<Position>;
  readonly #waiting = new Set<Waiter>();
  #pauseMs = firstPauseMs;
  #pause: Timer | undefined;
  #asking = false;

  constructor(clock: Clock, position: () => Promise<Position>) {
    this.#clock = clock;
    this.#position = position;
  }

  /** True once `position` is reached, false after `timeoutMs`. */
  wait(position: Position, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(timeoutMs, () => waiter.settle(false));
      const waiter: Waiter = {
        position,
        settle: (reached) => {
          timer.cancel();
          this.#waiting.delete(waiter);
          resolve(reached);
        },
      };
      this.#waiting.add(waiter);
      this.#pauseMs = firstPauseMs;
      this.#pause?.cancel();
      void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    // Waiters learn that the time is over, not why.
    const reached = await this.#position().catch(() => logStart);
    this.#asking = false;
    for (const waiter of this.#waiting) if (waiter.position <= reached) waiter.settle(true);
    if (this.#waiting.size === 0) return;
    this.#pause = this.#clock.schedule(this.#pauseMs, () => void this.#ask());
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}
