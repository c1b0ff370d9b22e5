/** A random generator whose values depend on its seed alone (sfc32). */
export class Random {
  readonly seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.seed = seed;
    let [a, b, c] = [0x9e3779b9, 0x243f6a88, 0xb7e15162];
    for (let at = 0; at < seed.length; at += 1) {
      const code = seed.charCodeAt(at);
      a = Math.imul(a ^ code, 0x85ebca6b);
      b = Math.imul(b ^ code ^ (a >>> 13), 0xc2b2ae35);
      c = Math.imul(c ^ code ^ (b >>> 16), 0x27d4eb2f);
    }
    [this.#a, this.#b, this.#c] = [a, b, c];
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** Uniform in [0, 1). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Uniform in [`low`, `high`). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** Between the two, each order of magnitude equally likely. */
  spread(low: number, high: number): number {
    return low * (high / low) ** this.next();
  }

  /** True in this share of all calls. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of the items; there must be one. */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError("nothing to pick from");
    return items[this.below(items.length)] as Item;
  }

  /** One of the names, in proportion to their weights. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    throw new RangeError("nothing to pick from");
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.below(2 ** 32).toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }

  /** An independent generator, which draws nothing from this one. */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }
}
