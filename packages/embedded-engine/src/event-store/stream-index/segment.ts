import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { crc32 } from "node:zlib";
import type { Sequence } from "../positions.ts";
import { bloomMayHave } from "./bloom.ts";
import type { Located } from "./memtable.ts";
import {
  blockRecords, fenceWords, footerWords, formatVersion, magic, SegmentDamaged, segmentWords, type SegmentSummary,
} from "./segment-format.ts";
import type { StreamHash } from "./stream-hash.ts";

/** A segment file, open for look-ups; fences and filter are in memory. */
export class Segment {
  readonly path: string;
  readonly records: number;
  readonly names: number;
  readonly #file: number;
  readonly #fences: Uint32Array;
  readonly #bloom: Uint32Array;
  readonly #block = new Uint32Array(blockRecords * segmentWords);
  #loaded = -1;

  /** Throws SegmentDamaged if the file is missing, damaged or of another version. */
  static open(path: string): Segment {
    const file = openFile(path);
    try {
      return new Segment(path, file, readSummary(path, file));
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  static adopt(path: string, summary: SegmentSummary): Segment {
    return new Segment(path, openFile(path), summary);
  }

  private constructor(path: string, file: number, summary: SegmentSummary) {
    this.path = path;
    this.records = summary.records;
    this.names = summary.names;
    this.#file = file;
    this.#fences = summary.fences;
    this.#bloom = summary.bloom;
  }

  /** False: no entry under the hash. True for about 1 % of absent hashes, too. */
  mayHave(hash: StreamHash): boolean {
    return bloomMayHave(this.#bloom, hash);
  }

  /** Entries under the hash with `from` <= revision, oldest first. */
  *ascending(hash: StreamHash, from: number): Generator<Located, void> {
    for (let record = this.#lowerBound(hash, from); record < this.records; record++) {
      const located = this.#read(record, hash);
      if (!located) return;
      yield located;
    }
  }

  /** Entries under the hash with revision <= `to`, newest first. */
  *descending(hash: StreamHash, to: number): Generator<Located, void> {
    for (let record = this.#lowerBound(hash, to + 1) - 1; record >= 0; record--) {
      const located = this.#read(record, hash);
      if (!located) return;
      yield located;
    }
  }

  /** Copies block `index` into `target`; returns its number of records. */
  readBlock(index: number, target: Uint32Array): number {
    const records = Math.min(blockRecords, this.records - index * blockRecords);
    const words = target.subarray(0, records * segmentWords);
    readAt(this.path, this.#file, words, index * blockRecords * segmentWords * 4);
    if (crc32(words) !== this.#fences[index * fenceWords + 3]) {
      throw new SegmentDamaged(basename(this.path), `block ${index} is damaged`);
    }
    return records;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(record: number, hash: StreamHash): Located | undefined {
    this.#load(Math.floor(record / blockRecords));
    const at = (record % blockRecords) * segmentWords;
    const block = this.#block;
    if (block[at] !== hash.hi || block[at + 1] !== hash.lo) return undefined;
    const sequence: Sequence = block[at + 4]! * 0x1_0000_0000 + block[at + 3]!;
    return { revision: block[at + 2]!, sequence };
  }

  #lowerBound(hash: StreamHash, revision: number): number {
    const fences = this.#fences.length / fenceWords;
    let low = 0;
    for (let high = fences; low < high;) {
      const middle = (low + high) >>> 1;
      if (before(this.#fences, middle * fenceWords, hash, revision)) low = middle + 1;
      else high = middle;
    }
    // The record may be at the end of the block before the first fence that is not smaller.
    if (low === 0) return 0;
    const block = low - 1;
    this.#load(block);
    let at = 0;
    for (let high = Math.min(blockRecords, this.records - block * blockRecords); at < high;) {
      const middle = (at + high) >>> 1;
      if (before(this.#block, middle * segmentWords, hash, revision)) at = middle + 1;
      else high = middle;
    }
    return block * blockRecords + at;
  }

  #load(block: number): void {
    if (this.#loaded === block) return;
    this.#loaded = -1;
    this.readBlock(block, this.#block);
    this.#loaded = block;
  }
}

function before(words: Uint32Array, at: number, hash: StreamHash, revision: number): boolean {
  if (words[at] !== hash.hi) return words[at]! < hash.hi;
  if (words[at + 1] !== hash.lo) return words[at + 1]! < hash.lo;
  return words[at + 2]! < revision;
}

function openFile(path: string): number {
  return orDamaged(path, () => openSync(path, "r"));
}

/** Fills `words` from a byte position. A file that is too short fails the checksum. */
function readAt(path: string, file: number, words: Uint32Array, position: number): void {
  orDamaged(path, () => readSync(file, words, { position }));
}

/** Unreadable data count as damaged; a lack of descriptors does not. */
function orDamaged<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    throw new SegmentDamaged(basename(path), (error as Error).message);
  }
}

function readSummary(path: string, file: number): SegmentSummary {
  const name = basename(path);
  const size = fstatSync(file).size;
  const footer = readWords(path, file, size - footerWords * 4, footerWords);
  const [fileMagic, version, records, blocks, filterWords, names, partsCrc, footerCrc] = footer as unknown as number[];
  if (fileMagic !== magic || version !== formatVersion || footerCrc !== crc32(footer.subarray(0, 7))) {
    throw new SegmentDamaged(name, "its footer is damaged or of another version");
  }
  const recordsSize = records! * segmentWords * 4;
  const fences = readWords(path, file, recordsSize, blocks! * fenceWords);
  const bloom = readWords(path, file, recordsSize + fences.byteLength, filterWords!);
  if (partsCrc !== crc32(bloom, crc32(fences))) throw new SegmentDamaged(name, "its fences or filter are damaged");
  return { records: records!, names: names!, fences, bloom };
}

function readWords(path: string, file: number, position: number, count: number): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(count);
  if (position >= 0) readAt(path, file, words, position);
  return words;
}
