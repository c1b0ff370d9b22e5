import type { Clock } from "../ports/clock.ts";

/** A value not used for this long is forgotten within as much time again. */
const keptMs = 30_000;

/** Values used in the last half minute to minute, or among the last `max`: idle ones cost nothing. */
export class RecentlyUsed<Value> {
  readonly #clock: Clock;
  readonly #max: number;
  #used = new Map<string, Value>();
  /** Not used since `#used` was begun, unless it is in that, too. */
  #unused = new Map<string, Value>();
  #ages = false;

  constructor(clock: Clock, { max }: { readonly max: number }) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Undefined where it is forgotten; asking counts as a use. */
  get(key: string): Value | undefined {
    const used = this.#used.get(key);
    if (used !== undefined) return used;
    const unused = this.#unused.get(key);
    if (unused !== undefined) this.set(key, unused);
    return unused;
  }

  set(key: string, value: Value): void {
    if (this.#used.size >= this.#max / 2 && !this.#used.has(key)) this.#restart();
    this.#used.set(key, value);
    if (!this.#ages) this.#age();
  }

  delete(key: string): void {
    this.#used.delete(key);
    this.#unused.delete(key);
  }

  clear(): void {
    this.#used.clear();
    this.#unused.clear();
  }

  #age(): void {
    this.#ages = true;
    this.#clock.schedule(keptMs, () => {
      this.#restart();
      this.#ages = false;
      if (this.#unused.size > 0) this.#age();
    });
  }

  #restart(): void {
    this.#unused = this.#used;
    this.#used = new Map();
  }
}
