import type { WaitReason } from "../../features/events/facts.ts";
import type { Clock } from "../../kernel/ports/clock.ts";

/** The last reason that kept due events of a destination from being sent. */
export interface Hold {
  readonly reason: WaitReason;
  /** When it ended, ms since 1970: an event that was due before waited for it. */
  readonly until: number;
}

/** A jump of the wall clock by this much makes a hold from before it unknown, ms. */
const jumpMs = 1_000;

/** Remembers what kept the events of one destination from being sent last, so that their claims can say it. */
export class Holds {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  #present: WaitReason | undefined;
  #last: Hold | undefined;
  /** The difference of the two clocks at the end of the last hold. */
  #apart = 0;

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
  }

  /** From now on due events wait, for this reason. */
  begin(reason: WaitReason): void {
    this.#present = reason;
  }

  /** From now on events are sent; returns the hold that ended last, now or before. */
  end(): Hold | undefined {
    if (this.#present === undefined && !this.#last) return undefined;
    const now = this.#clock.now();
    const apart = now - this.#clock.monotonic();
    if (this.#present !== undefined) {
      this.#last = { reason: this.#present, until: now };
      this.#apart = apart;
      this.#present = undefined;
    } else if (Math.abs(apart - this.#apart) >= jumpMs) this.#last = undefined;
    return this.#last;
  }

  /** Events waited for something else meanwhile. */
  forget(): void {
    this.#present = undefined;
    this.#last = undefined;
  }
}
