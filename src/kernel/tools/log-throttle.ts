import type { Clock } from "../ports/clock.ts";

const quietMs = 10_000;
const mostReasons = 100;

/** Reports frequent events by reason: the first at once, repetitions by their number. */
export class LogThrottle {
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `first` if the reason is new, else, every ten seconds while it goes on, `more` with the number. */
  tell(reason: string, first: (reason: string) => void, more: (reason: string, count: number) => void): void {
    const kept = this.#counts.has(reason) || this.#counts.size < mostReasons ? reason : "many reasons";
    const count = this.#counts.get(kept);
    if (count !== undefined) {
      this.#counts.set(kept, count + 1);
      return;
    }
    this.#quiet(kept, more);
    first(kept);
  }

  #quiet(reason: string, more: (reason: string, count: number) => void): void {
    this.#counts.set(reason, 0);
    this.#clock.schedule(quietMs, () => {
      const count = this.#counts.get(reason) ?? 0;
      this.#counts.delete(reason);
      if (count === 0) return;
      more(reason, count);
      this.#quiet(reason, more);
    });
  }
}
