import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { sync } from "../../../../../src/kernel/files.ts";
import { addToBloom, bloomWords } from "./bloom.ts";
import {
  blockRecords, fenceWords, footerWords, formatVersion, magic, segmentWords, type SegmentSummary,
} from "./segment-format.ts";

/** Writes a segment under a temporary name and renames it once it is synced. */
export class SegmentWriter {
  readonly #path: string;
  readonly #file: number;
  readonly #block = new Uint32Array(blockRecords * segmentWords);
  readonly #bloom: Uint32Array<ArrayBuffer>;
  #fences = new Uint32Array(1024 * fenceWords);
  #inBlock = 0;
  #blocks = 0;
  #records = 0;
  #names = 0;
  readonly #last = new Uint32Array(segmentWords);
  #open = true;

  constructor(path: string, namesAtMost: number) {
    this.#path = path;
    this.#file = openSync(temporary(path), "w");
    this.#bloom = new Uint32Array(bloomWords(namesAtMost));
  }

  /** Adds the record at `at`; records come in order, repeated ones are skipped. */
  add(words: Uint32Array, at: number): void {
    const last = this.#last;
    if (last[3] === words[at + 3] && last[4] === words[at + 4]) return;
    if (this.#records === 0 || last[0] !== words[at] || last[1] !== words[at + 1]) {
      addToBloom(this.#bloom, { hi: words[at]!, lo: words[at + 1]! });
      this.#names += 1;
    }
    const to = this.#inBlock * segmentWords;
    for (let word = 0; word < segmentWords; word++) this.#block[to + word] = last[word] = words[at + word]!;
    this.#records += 1;
    this.#inBlock += 1;
    if (this.#inBlock === blockRecords) this.#endBlock();
  }

  /** Syncs and renames the file; returns the part for readers' memory. */
  finish(): SegmentSummary {
    if (this.#inBlock > 0) this.#endBlock();
    const fences = this.#fences.slice(0, this.#blocks * fenceWords);
    const bloom = this.#bloom;
    const footer = new Uint32Array(footerWords);
    footer.set([magic, formatVersion, this.#records, this.#blocks, bloom.length, this.#names]);
    footer[6] = crc32(bloom, crc32(fences));
    footer[7] = crc32(footer.subarray(0, 7));
    for (const part of [fences, bloom, footer]) this.#write(part);
    fsyncSync(this.#file);
    this.abandon();
    renameSync(temporary(this.#path), this.#path);
    sync(dirname(this.#path));
    return { records: this.#records, names: this.#names, fences, bloom };
  }

  /** Closes the file; {@link IndexFolder.open} removes an unfinished one. */
  abandon(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }

  #endBlock(): void {
    const block = this.#block.subarray(0, this.#inBlock * segmentWords);
    if ((this.#blocks + 1) * fenceWords > this.#fences.length) {
      const larger = new Uint32Array(this.#fences.length * 2);
      larger.set(this.#fences);
      this.#fences = larger;
    }
    this.#fences.set(this.#block.subarray(0, 3), this.#blocks * fenceWords);
    this.#fences[this.#blocks * fenceWords + 3] = crc32(block);
    this.#write(block);
    this.#blocks += 1;
    this.#inBlock = 0;
  }

  #write(words: Uint32Array): void {
    for (let done = 0; done < words.byteLength;) done += writeSync(this.#file, words, done);
  }
}

function temporary(path: string): string {
  return `${path}.new`;
}
