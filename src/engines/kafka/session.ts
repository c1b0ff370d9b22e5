import type { Clock } from "../../kernel/ports/clock/clock.ts";
import type { QueueSession } from "../../kernel/ports/work-queue.ts";

/** A membership in the group from one join to the next rebalance. */
export class GroupSession implements QueueSession {
  readonly #clock: Clock;
  readonly #lastsMs: number;
  #seenAt: number;
  #ended = false;

  /**
   * The group gives a member's share away no sooner than `lastsMs` after it last heard from the member, which is at
   * least `ageMs` ago.
   */
  constructor(clock: Clock, lastsMs: number, ageMs: number) {
    this.#clock = clock;
    this.#lastsMs = lastsMs;
    this.#seenAt = clock.monotonic() - ageMs;
  }

  /** Whether it is over for good, see {@link end}. */
  get ended(): boolean {
    return this.#ended;
  }

  get alive(): boolean {
    return !this.#ended && this.#clock.monotonic() < this.#seenAt + this.#lastsMs;
  }

  /** The group heard from the member, at most `ageMs` ago. */
  renew(ageMs: number): void {
    this.#seenAt = Math.max(this.#seenAt, this.#clock.monotonic() - ageMs);
  }

  /** For ever: the next join begins another session. */
  end(): void {
    this.#ended = true;
  }
}
