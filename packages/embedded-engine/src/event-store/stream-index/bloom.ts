import type { StreamHash } from "./stream-hash.ts";

/** A cache line: a look-up costs one cache miss, in a filter of any size. */
const wordsPerBlock = 16;
/** With six bits per name, about 1 % of unknown names are false positives. */
const bitsPerName = 12;

/** The size of a filter for this many names. */
export function bloomWords(names: number): number {
  return Math.max(1, Math.ceil((names * bitsPerName) / (wordsPerBlock * 32))) * wordsPerBlock;
}

export function addToBloom(words: Uint32Array, hash: StreamHash): void {
  const block = blockOf(words, hash);
  for (let probe = 0; probe < 6; probe++) {
    const bit = bitOf(hash, probe);
    words[block + (bit >>> 5)] = words[block + (bit >>> 5)]! | (1 << (bit & 31));
  }
}

/** False: the name was never added. True: it probably was. */
export function bloomMayHave(words: Uint32Array, hash: StreamHash): boolean {
  const block = blockOf(words, hash);
  for (let probe = 0; probe < 6; probe++) {
    const bit = bitOf(hash, probe);
    if (((words[block + (bit >>> 5)]! >>> (bit & 31)) & 1) === 0) return false;
  }
  return true;
}

function blockOf(words: Uint32Array, hash: StreamHash): number {
  const blocks = words.length / wordsPerBlock;
  return Math.floor((hash.lo / 0x1_0000_0000) * blocks) * wordsPerBlock;
}

function bitOf(hash: StreamHash, probe: number): number {
  const source = probe < 3 ? hash.hi : Math.imul(hash.hi, 0x9e3779b1) >>> 0;
  return (source >>> ((probe % 3) * 9)) & 511;
}
