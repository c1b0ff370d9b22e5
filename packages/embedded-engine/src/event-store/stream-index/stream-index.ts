import type { Sequence } from "../positions.ts";
import { deletedAt, Memtable, neverSeen, type Located, type StreamState } from "./memtable.ts";
import type { Segment } from "./segment.ts";
import { hashStream } from "./stream-hash.ts";

/** The stream of a row, and whether the row was deleted. */
export interface RowHead {
  readonly stream: string;
  readonly gone: boolean;
}

/** Where each stream's entries are: in memory, then in segments. The log's rows decide on matches (docs/adr/0021). */
export class StreamIndex {
  readonly #rowHead: (sequence: Sequence) => RowHead | undefined;
  readonly #capacity: number;
  #segments: readonly Segment[];
  #active: Memtable;
  #frozen: Memtable | null = null;
  readonly #added: string[] = [];

  /** `segments`: from old to new. `capacity`: the initial room of a memtable, in records. */
  constructor(segments: readonly Segment[], capacity: number, rowHead: (sequence: Sequence) => RowHead | undefined) {
    this.#segments = segments;
    this.#capacity = capacity;
    this.#rowHead = rowHead;
    this.#active = new Memtable(capacity);
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get activeRecords(): number {
    return this.#active.count;
  }

  /** {@link neverSeen} without a record. May read a segment, and so throw SegmentDamaged. */
  stateOf(stream: string): StreamState {
    return this.#active.stateOf(stream) ?? this.#frozen?.stateOf(stream) ?? this.#stateInSegments(stream);
  }

  /** Adds an entry, or with `gone` the stream's deletion up to this entry. */
  add(stream: string, revision: number, sequence: Sequence, gone = false): void {
    this.#active.add(stream, revision, sequence, gone);
    this.#added.push(stream);
  }

  /** Keeps the records added so far: {@link undo} does not remove them. */
  mark(): void {
    this.#added.length = 0;
  }

  undo(): void {
    for (let stream = this.#added.pop(); stream !== undefined; stream = this.#added.pop()) this.#active.undo(stream);
  }

  /** Candidates for entries with revision >= `from`, oldest first; check the rows. */
  *ascending(stream: string, from: number): Generator<Located, void> {
    const hash = hashStream(stream);
    for (const segment of this.#segments) if (segment.mayHave(hash)) yield* segment.ascending(hash, from);
    for (const memtable of [this.#frozen, this.#active]) {
      if (memtable) yield* [...memtable.descending(stream, from, Infinity)].reverse();
    }
  }

  /** Candidates for entries with revision <= `to`, newest first; check the rows. */
  *descending(stream: string, to: number): Generator<Located, void> {
    for (const memtable of [this.#active, this.#frozen]) if (memtable) yield* memtable.descending(stream, 0, to);
    const hash = hashStream(stream);
    for (const segment of this.#segments.toReversed()) if (segment.mayHave(hash)) yield* segment.descending(hash, to);
  }

  /** Freezes the memtable for writing a segment. Not again before {@link flushed}. */
  freeze(): { readonly words: Uint32Array<SharedArrayBuffer>; readonly count: number } {
    this.#frozen = this.#active;
    this.#active = new Memtable(this.#capacity);
    return { words: this.#frozen.words, count: this.#frozen.count };
  }

  flushed(segment: Segment): void {
    this.#segments = [...this.#segments, segment];
    this.#frozen = null;
  }

  replace(merged: readonly Segment[], by: Segment): void {
    const at = this.#segments.indexOf(merged[0]!);
    this.#segments = this.#segments.toSpliced(at, merged.length, by);
  }

  #stateInSegments(stream: string): StreamState {
    const hash = hashStream(stream);
    for (let at = this.#segments.length - 1; at >= 0; at--) {
      const segment = this.#segments[at]!;
      if (!segment.mayHave(hash)) continue;
      for (const { revision, sequence } of segment.descending(hash, Infinity)) {
        const row = this.#rowHead(sequence);
        if (row?.stream === stream) return row.gone ? deletedAt(revision) : revision;
      }
    }
    return neverSeen;
  }
}
