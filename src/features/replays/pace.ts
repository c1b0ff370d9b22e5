import type { Clock } from "../../kernel/ports/clock.ts";

/** After a pause, what may be made up for at once is half a second's worth. */
const burstS = 0.5;
/** Ten tenths of an event are one. */
const rounding = 1e-9;

/** Spreads work over time: so many a second, beginning with one. */
export class Pace {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #perSecond: number;
  #credit = 1;
  #at: number;

  constructor(clock: Pick<Clock, "monotonic">, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#at = clock.monotonic();
  }

  /** How many may begin now: a whole number. */
  get allowed(): number {
    const now = this.#clock.monotonic();
    const most = Math.max(1, this.#perSecond * burstS);
    this.#credit = Math.min(most, this.#credit + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    return Math.floor(this.#credit + rounding);
  }

  /** Counts so many as begun. */
  take(count: number): void {
    this.#credit -= count;
  }
}
