/**
 * A segment file: immutable, sorted by (hash, revision, sequence).
 *
 *   records   5 words each: hash hi, hash lo, revision, sequence lo, sequence hi
 *   fences    4 words per block of records: hash hi, hash lo and revision of its first record, CRC-32 of the block
 *   bloom     the filter over the hashes
 *   footer    8 words: magic, version, records, fences, bloom words, names, CRC-32 of fences and bloom, CRC-32 of
 *             the footer so far
 *
 * Words are 32 bits in the machine's order, which on every platform Node runs this on is little-endian.
 */
export const magic = 0x5367_4d31;
/** A segment of another version counts as damaged: the index is rebuilt. */
export const formatVersion = 1;
export const segmentWords = 5;
/** Records of a block, except the last. A look-up reads one or two blocks. */
export const blockRecords = 256;
export const fenceWords = 4;
export const footerWords = 8;

/** A listed segment is missing, damaged or of another version; the index can be rebuilt. */
export class SegmentDamaged extends Error {
  readonly file: string;
  readonly what: string;

  constructor(file: string, what: string) {
    super(`index segment ${file}: ${what}`);
    this.name = "SegmentDamaged";
    this.file = file;
    this.what = what;
  }
}

/** The part of a segment that readers keep in memory. */
export interface SegmentSummary {
  readonly records: number;
  readonly names: number;
  readonly fences: Uint32Array<ArrayBuffer>;
  readonly bloom: Uint32Array<ArrayBuffer>;
}
