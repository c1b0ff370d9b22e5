import type { Clock, Timer } from "../../kernel/ports/clock/clock.ts";
import { logStart, type Position } from "../../kernel/ports/event-store.ts";
import { Waiters } from "../../kernel/read-models/engine/waiters.ts";

const firstPauseMs = 2;
const longestPauseMs = 50;

/**
 * Waits until another process has written a position. A new waiter causes a query at once, and then at growing
 * intervals until the next waiter comes; one query serves all.
 */
export class PositionWaiters {
  readonly #clock: Clock;
  readonly #position: () => Promise<Position>;
  readonly #waiters: Waiters;
  #pauseMs = firstPauseMs;
  #pause: Timer | undefined;
  #asking = false;

  constructor(clock: Clock, position: () => Promise<Position>) {
    this.#clock = clock;
    this.#position = position;
    this.#waiters = new Waiters(clock);
  }

  /** True once `position` is reached, false after `timeoutMs`. */
  wait(position: Position, timeoutMs: number): Promise<boolean> {
    const reached = this.#waiters.wait(position, timeoutMs);
    this.#pauseMs = firstPauseMs;
    this.#pause?.cancel();
    void this.#ask();
    return reached;
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    // After a failed query, waiters learn only that the time is over.
    const reached = await this.#position().catch(() => logStart);
    this.#asking = false;
    this.#waiters.reached(reached);
    if (this.#waiters.isEmpty) return;
    this.#pause = this.#clock.schedule(this.#pauseMs, () => void this.#ask());
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}
