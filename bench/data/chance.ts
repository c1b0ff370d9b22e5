import type { Ids } from "../../src/ports/ids.ts";

const span = 2 ** 32;

/** Whole numbers below 2^32 that look random and follow from the seed alone (mulberry32). */
export function wordsFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Numbers in [0, 1), likewise. */
export function chanceFrom(seed: number): () => number {
  const word = wordsFrom(seed);
  return () => word() / span;
}

/** Chooses one of the items, each as often as its weight says; `chance` is in [0, 1). */
export function weighted<T extends { readonly weight: number }>(items: readonly T[]): (chance: number) => T {
  const sum = items.reduce((all, { weight }) => all + weight, 0);
  return (chance) => {
    let rest = chance * sum;
    return items.find(({ weight }) => (rest -= weight) < 0) ?? items[items.length - 1]!;
  };
}

/** Ids that follow from the seed; no secrets. */
export class SeededIds implements Ids {
  readonly #word: () => number;

  constructor(seed: number) {
    this.#word = wordsFrom(seed);
  }

  uuid(): string {
    const [a, b, c, d] = [this.#hex(), this.#hex(), this.#hex(), this.#hex()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }

  secretBytes(): never {
    throw new Error("a seed gives no secrets");
  }

  random(): number {
    return this.#word() / span;
  }

  #hex(): string {
    return this.#word().toString(16).padStart(8, "0");
  }
}
