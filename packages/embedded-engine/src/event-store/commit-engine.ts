import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import type { LogFile, Row } from "./log-file.ts";
import type { Sequence } from "./positions.ts";
import {
  entryTexts, type AppendBatch, type DeleteRequest, type Exception, type ReadRequest, type StreamRows,
} from "./protocol.ts";
import { closed, closingRevision, nextRevision, type StreamState } from "./stream-index/memtable.ts";
import { SegmentDamaged } from "./stream-index/segment-format.ts";
import type { StreamIndex } from "./stream-index/stream-index.ts";

export type Write = AppendBatch | DeleteRequest;

/** The result of one write. */
export type WriteResult =
  | { readonly first: Sequence; readonly last: Sequence; readonly exceptions: Exception[] }
  | { readonly failed: string };

/** A commit writes whole pages; the next commit writes the half-filled last one again. */
const pageBytes = 8192;

/** A UTF-16 unit takes up to three bytes of UTF-8. */
const bytesPerUnit = 3;

export interface EngineCounts {
  readonly commits: number;
  readonly entries: number;
  readonly bytes: number;
  readonly deletions: number;
}

class StreamUnread extends Error {
  readonly stream: string;

  constructor(stream: string, why: string) {
    super(why);
    this.stream = stream;
  }
}

/** Applies all waiting writes in one transaction. A conflict or an unreadable stream fails its own writes only. */
export class CommitEngine {
  readonly #log: LogFile;
  readonly #index: StreamIndex;
  readonly #onDamage: (damage: SegmentDamaged) => void;
  #head: Sequence;
  #counts = { commits: 0, entries: 0, bytes: 0, deletions: 0 };
  /** The size of the largest failed commit, until one as large succeeds; 0 if none has failed. */
  #failedBytes = 0;
  readonly #unread = new Map<string, string>();

  constructor(log: LogFile, index: StreamIndex, onDamage: (damage: SegmentDamaged) => void) {
    this.#log = log;
    this.#index = index;
    this.#onDamage = onDamage;
    this.#head = log.head();
  }

  get head(): Sequence {
    return this.#head;
  }

  /** Failed transactions are not counted. */
  get counts(): EngineCounts {
    return { ...this.#counts };
  }

  /** Never throws. A transaction that met a damaged page is repeated without the writes that need the page. */
  commit(writes: readonly Write[]): WriteResult[] {
    this.#unread.clear();
    for (;;) {
      const before = { head: this.#head, counts: this.counts };
      this.#index.mark();
      try {
        const outcomes = this.#log.transaction(() =>
          writes.map((write) => (write.kind === "append" ? this.#append(write) : this.#delete(write))));
        this.#counts.commits += 1;
        this.#counts.bytes += pageBytes;
        if (this.#counts.bytes - before.counts.bytes >= this.#failedBytes) this.#failedBytes = 0;
        return outcomes;
      } catch (error) {
        const bytes = this.#counts.bytes - before.counts.bytes + pageBytes;
        this.#index.undo();
        this.#head = before.head;
        this.#counts = before.counts;
        if (error instanceof StreamUnread) {
          this.#unread.set(error.stream, error.message);
          continue;
        }
        this.#failedBytes = Math.max(this.#failedBytes, bytes);
        this.#note(error);
        return writes.map(() => ({ failed: error instanceof Error ? error.message : String(error) }));
      }
    }
  }

  /** After a failed commit, tries to write as much and throws if that fails; otherwise writes nothing. */
  ping(): void {
    if (this.#failedBytes === 0) return;
    this.#log.probe(this.#failedBytes * bytesPerUnit);
    this.#failedBytes = 0;
  }

  /** The rows of a stream without deleted ones. Throws if the files cannot be read. */
  read({ stream, from, limit, backwards }: ReadRequest): StreamRows {
    const rows: StreamRows = { revisions: [], sequences: [], texts: [] };
    if (limit < 1) return rows;
    try {
      for (const row of this.#rows(stream, from, backwards)) {
        rows.revisions.push(row.revision);
        rows.sequences.push(row.sequence);
        rows.texts.push(row.id, row.type, row.metadata, row.data);
        if (rows.revisions.length === limit) break;
      }
      return rows;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  #append({ streams, expected, counts, texts }: AppendBatch): WriteResult {
    const first = this.#head + 1;
    const exceptions: Exception[] = [];
    let at = 0;
    for (let append = 0; append < streams.length; append++) {
      const stream = streams[append]!;
      const expectation = expected[append]!;
      const end = at + counts[append]! * entryTexts;
      const found = this.#found(stream, expectation, texts, at, end);
      if ("next" in found) {
        let revision = found.next;
        for (; at < end; at += entryTexts) this.#write(stream, revision++, texts, at);
        if (revision - 1 !== expectation + counts[append]!) exceptions.push({ at: append, revision: revision - 1 });
      } else {
        exceptions.push({ at: append, ...found });
        at = end;
      }
    }
    return { first, last: this.#head, exceptions };
  }

  #found(stream: string, expected: number, texts: readonly string[], at: number, end: number) {
    const failed = this.#unread.get(stream);
    if (failed !== undefined) return { failed };
    const state = this.#stateOf(stream);
    if (state !== closed && Math.max(state, noStream) === expected) return { next: nextRevision(state) };
    const repeated = state > expected ? this.#repeated(stream, expected, texts, at, end) : undefined;
    return repeated ? { repeated } : { conflict: Math.max(state, noStream) };
  }

  #write(stream: string, revision: number, texts: readonly string[], at: number): void {
    const sequence = ++this.#head;
    const metadata = texts[at + 2]!;
    const data = texts[at + 3]!;
    this.#log.insert(sequence, stream, revision, texts[at]!, texts[at + 1]!, metadata, data);
    this.#index.add(stream, revision, sequence);
    this.#counts.entries += 1;
    this.#counts.bytes += metadata.length + data.length;
  }

  #repeated(
    stream: string, expected: number, texts: readonly string[], at: number, end: number,
  ): { revision: number; sequence: Sequence } | undefined {
    for (const row of this.#rows(stream, expected + 1, false)) {
      if (row.id !== texts[at]) return undefined;
      at += entryTexts;
      if (at === end) return { revision: row.revision, sequence: row.sequence };
    }
    return undefined;
  }

  /** Returns an exception if the stream is at another revision than expected. */
  #delete({ stream, expected, forGood }: DeleteRequest): WriteResult {
    const first = this.#head + 1;
    const failed = this.#unread.get(stream);
    if (failed !== undefined) return { failed };
    let newest: Row | undefined;
    for (const row of this.#rows(stream, Infinity, true)) {
      newest ??= row;
      if (expected !== null && newest.revision !== expected) {
        return { first, last: this.#head, exceptions: [{ at: 0, conflict: newest.revision }] };
      }
      this.#log.empty(row.sequence);
      this.#counts.bytes += row.metadata.length + row.data.length;
    }
    if (newest) {
      this.#index.add(stream, newest.revision, newest.sequence, true);
      this.#counts.deletions += 1;
    }
    if (forGood && this.#stateOf(stream) !== closed) {
      const sequence = ++this.#head;
      this.#log.insert(sequence, stream, closingRevision, "", "", "", "");
      this.#index.add(stream, closingRevision, sequence, true);
    }
    return { first, last: this.#head, exceptions: [] };
  }

  #stateOf(stream: string): StreamState {
    return this.#reading(stream, () => this.#index.stateOf(stream));
  }

  /** Damage of the log's pages concerns one stream, damage of the index all of them. */
  #reading<Result>(stream: string, read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw error instanceof SegmentDamaged ? error : new StreamUnread(stream, (error as Error).message);
    }
  }

  #note(error: unknown): void {
    if (error instanceof SegmentDamaged) this.#onDamage(error);
  }

  *#rows(stream: string, from: number, backwards: boolean): Generator<Row, void> {
    const located = backwards ? this.#index.descending(stream, from) : this.#index.ascending(stream, from);
    for (const { sequence } of located) {
      const row = this.#reading(stream, () => this.#log.row(sequence, stream));
      if (row) yield row;
    }
  }
}
