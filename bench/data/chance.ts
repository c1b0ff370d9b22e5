import type { Ids } from "../../src/kernel/ports/ids.ts";
import { wordsFrom } from "../../test/support/chance.ts";

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

  /** A UUID of version 7, as the relay makes for each request that brings no id of its own. `ms`: since 1970. */
  timedUuid(ms: number): string {
    const time = ms.toString(16).padStart(12, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.uuid().slice(15)}`;
  }

  salt(): string {
    const bytes = Buffer.alloc(16);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(this.#word(), at);
    return bytes.toString("base64url");
  }

  secretBytes(): never {
    throw new Error("a seed gives no secrets");
  }

  random(): number {
    return this.#word() / 2 ** 32;
  }

  #hex(): string {
    return this.#word().toString(16).padStart(8, "0");
  }
}
