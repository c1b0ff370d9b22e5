/** 64 bits in two unsigned halves. Names may collide: compare the name in the row found. */
export interface StreamHash {
  readonly hi: number;
  readonly lo: number;
}

/** Hashes a stream's name. The value is stored in files, so it never changes. */
export function hashStream(stream: string): StreamHash {
  let hi = 0xdeadbeef;
  let lo = 0x41c6ce57;
  for (let at = 0; at < stream.length; at++) {
    const code = stream.charCodeAt(at);
    hi = Math.imul(hi ^ code, 0x9e3779b1);
    lo = Math.imul(lo ^ code, 0x5f356495);
    hi = (hi << 13) | (hi >>> 19);
    lo = (lo << 17) | (lo >>> 15);
  }
  const mixedHi = mix(hi ^ Math.imul(lo, 0x85ebca6b));
  const mixedLo = mix(lo ^ Math.imul(hi, 0xc2b2ae35));
  return { hi: mixedHi, lo: mixedLo };
}

function mix(bits: number): number {
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
