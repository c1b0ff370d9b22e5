import type { Clock } from "../ports/clock.ts";

/** What had no use for this long is forgotten before as much time has passed again. */
const keptMs = 30_000;

/**
 * What was used lately, so that what is idle costs nothing: things are forgotten half a minute to a minute after their
 * last use, or when as many as half of `max` others were used since. Together they have one timer, and none once all
 * are forgotten.
 */
export class Recent<Value> {
  readonly #clock: Clock;
  readonly #max: number;
  #used = new Map<string, Value>();
  /** Had no use since `used` was begun, where it does not stand there too. */
  #unused = new Map<string, Value>();
  #ages = false;

  /** Never holds more than `max` things. */
  constructor(clock: Clock, { max }: { readonly max: number }) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Undefined where it is forgotten; to be asked for is a use. */
  get(key: string): Value | undefined {
    const used = this.#used.get(key);
    if (used !== undefined) return used;
    const unused = this.#unused.get(key);
    if (unused !== undefined) this.set(key, unused);
    return unused;
  }

  /** Remembers a value, in the place of an earlier one; to be set is a use. */
  set(key: string, value: Value): void {
    if (this.#used.size >= this.#max / 2 && !this.#used.has(key)) this.#beginAnew();
    this.#used.set(key, value);
    if (!this.#ages) this.#age();
  }

  /** Forgets one at once. */
  delete(key: string): void {
    this.#used.delete(key);
    this.#unused.delete(key);
  }

  /** Forgets all at once. */
  clear(): void {
    this.#used.clear();
    this.#unused.clear();
  }

  #age(): void {
    this.#ages = true;
    this.#clock.schedule(keptMs, () => {
      this.#beginAnew();
      this.#ages = false;
      if (this.#unused.size > 0) this.#age();
    });
  }

  #beginAnew(): void {
    this.#unused = this.#used;
    this.#used = new Map();
  }
}
