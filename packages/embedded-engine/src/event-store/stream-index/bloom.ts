import type { StreamHash } from "./stream-hash.ts";

/** A cache line: a look-up costs one cache miss, in a filter of any size. */
const wordsPerBlock = 16;
/** With six bits set for each name about one unknown name in a hundred is a false positive. */
const bitsPerName = 12;

/** How many words a filter for so many names takes. */
export function bloomWords(names: number): number {
  return Math.max(1, Math.ceil((names * bitsPerName) / (wordsPerBlock * 32))) * wordsPerBlock;
}

/** Puts a name into the filter. */
export function addToBloom(words: Uint32Array, hash: StreamHash): void {
  const block = blockOf(words, hash);
  for (let probe = 0; probe < 6; probe++) {
    const bit = bitOf(hash, probe);
    words[block + (bit >>> 5)] = words[block + (bit >>> 5)]! | (1 << (bit & 31));
  }
}

/** False: the name was never put in. True: it probably was. */
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

/** Nine bits of the hash's other half for each probe: three from it, three from a remix of it. */
function bitOf(hash: StreamHash, probe: number): number {
  const source = probe < 3 ? hash.hi : Math.imul(hash.hi, 0x9e3779b1) >>> 0;
  return (source >>> ((probe % 3) * 9)) & 511;
}
