import { goneBit, recordWords } from "./memtable.ts";
import { Segment } from "./segment.ts";
import { blockRecords, segmentWords, type SegmentSummary } from "./segment-format.ts";
import { SegmentWriter } from "./segment-writer.ts";

/** Writes the first `count` records of a memtable as a segment. */
export function writeSegment(path: string, records: Uint32Array, count: number): SegmentSummary {
  const writer = new SegmentWriter(path, count);
  try {
    const record = new Uint32Array(segmentWords);
    for (const index of sorted(records, count)) {
      const at = index * recordWords;
      record.set(records.subarray(at, at + segmentWords));
      // A deletion is stored as the record of a deleted entry; the log's row marks the deletion.
      record[4] = record[4]! & ~goneBit;
      writer.add(record, 0);
    }
    return writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

const sliceRecords = 20_000;

/** Merges segments into one. Calls `pause` every few milliseconds, and fails if that rejects. */
export async function mergeSegments(
  path: string,
  inputs: readonly string[],
  pause: () => Promise<void>,
): Promise<SegmentSummary> {
  const cursors: Cursor[] = [];
  let writer: SegmentWriter | undefined;
  try {
    for (const input of inputs) cursors.push(new Cursor(Segment.open(input)));
    writer = new SegmentWriter(path, cursors.reduce((sum, { segment }) => sum + segment.names, 0));
    for (let done = 0; ; done++) {
      let least: Cursor | undefined;
      for (const cursor of cursors) {
        if (!cursor.ended && (!least || compare(cursor.block, cursor.at, least.block, least.at) < 0)) least = cursor;
      }
      if (!least) break;
      writer.add(least.block, least.at);
      least.advance();
      if (done % sliceRecords === 0) await pause();
    }
    return writer.finish();
  } catch (error) {
    writer?.abandon();
    throw error;
  } finally {
    for (const { segment } of cursors) segment.close();
  }
}

/** The indexes of the records in a segment's order. */
function sorted(records: Uint32Array, count: number): Uint32Array {
  // 64-bit keys (half a hash, index) sort without a comparator; equal half hashes are sorted after.
  const keys = new BigUint64Array(count);
  const halves = new Uint32Array(keys.buffer);
  for (let index = 0; index < count; index++) {
    halves[2 * index] = index;
    halves[2 * index + 1] = records[index * recordWords]!;
  }
  keys.sort();
  const order = new Uint32Array(count);
  for (let index = 0; index < count; index++) order[index] = halves[2 * index]!;
  for (let start = 0; start < count;) {
    let end = start + 1;
    while (end < count && halves[2 * end + 1] === halves[2 * start + 1]) end += 1;
    if (end - start > 1) {
      order.subarray(start, end).sort((one, two) => compare(records, one * recordWords, records, two * recordWords));
    }
    start = end;
  }
  return order;
}

/** Orders records of memtables and of segments. */
function compare(one: Uint32Array, at: number, two: Uint32Array, there: number): number {
  for (let word = 0; word < 3; word++) {
    if (one[at + word] !== two[there + word]) return one[at + word]! - two[there + word]!;
  }
  return (one[at + 4]! & ~goneBit) - (two[there + 4]! & ~goneBit) || one[at + 3]! - two[there + 3]!;
}

class Cursor {
  readonly segment: Segment;
  readonly block = new Uint32Array(blockRecords * segmentWords);
  at = 0;
  ended = false;
  #next = 0;
  #inBlock = 0;

  constructor(segment: Segment) {
    this.segment = segment;
    this.#load();
  }

  advance(): void {
    this.at += segmentWords;
    if (this.at === this.#inBlock * segmentWords) this.#load();
  }

  #load(): void {
    this.at = 0;
    this.ended = this.#next * blockRecords >= this.segment.records;
    if (this.ended) return;
    this.#inBlock = this.segment.readBlock(this.#next, this.block);
    this.#next += 1;
  }
}
