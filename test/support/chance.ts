/** Pseudo-random whole numbers below 2^32 from a seed (mulberry32). */
export function wordsFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Pseudo-random numbers in [0, 1) from a seed. */
export function chanceFrom(seed: number): () => number {
  const word = wordsFrom(seed);
  return () => word() / 2 ** 32;
}
