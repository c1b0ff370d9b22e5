import type { Clock } from "../../ports/clock.ts";

interface Watched {
  readonly until: number;
  readonly late: () => void;
}

/** Things that must be over within one and the same time. One timer for all of them: each costs next to nothing. */
export class Deadlines<Thing> {
  readonly #clock: Clock;
  readonly #ms: number;
  /** In the order of their ends. */
  readonly #watched = new Map<Thing, Watched>();
  #timed = false;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Calls `late` once, unless {@link over} is called in time. */
  watch(thing: Thing, late: () => void): void {
    this.#watched.set(thing, { until: this.#clock.monotonic() + this.#ms, late });
    if (!this.#timed) this.#time(this.#ms);
  }

  /** The thing came in time: its `late` is not called. Nothing where it is not watched. */
  over(thing: Thing): void {
    this.#watched.delete(thing);
  }

  #time(ms: number): void {
    this.#timed = true;
    this.#clock.schedule(ms, () => this.#look());
  }

  #look(): void {
    this.#timed = false;
    const now = this.#clock.monotonic();
    for (const [thing, { until, late }] of this.#watched) {
      if (until > now) {
        this.#time(until - now);
        return;
      }
      this.#watched.delete(thing);
      late();
    }
  }
}
