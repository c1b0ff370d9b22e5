import { check, type Check } from "./commit-check.ts";
import type { Change, Expected, Proposed, Stored } from "./events.ts";
import { metadataType, metastreamOf, noEvent, softDeletedBefore, Stream } from "./stream.ts";

/** The outcome of a change that a client asked for. */
export type WriteOutcome =
  | { readonly kind: "written"; readonly revision: bigint; readonly position: bigint }
  | { readonly kind: "conflict"; readonly current: bigint }
  | { readonly kind: "deleted" };

/** The revision of a tombstone. */
export const tombstoneRevision = 2n ** 63n - 1n;

/** Where the first record of a fresh database stands. */
const firstPosition = 548n;
/** Bytes of a record beside its content. */
const recordOverhead = 97;
const nothing = new Uint8Array();

/** The log and its streams, in memory. Every change goes through `record`, so that a file can keep it. */
export class Database {
  /** In the order of their positions; undefined where a scavenge took the event. */
  readonly #log: (Stored | undefined)[] = [];
  readonly #positions: bigint[] = [];
  readonly #streams = new Map<string, Stream>();
  readonly #listeners = new Set<() => void>();
  readonly #record: (change: Change) => void;
  readonly #reappearingMs: () => number;
  #end = firstPosition;

  /** `reappearingMs`: how long readers do not find a deleted stream that began again. */
  constructor(
    record: (change: Change) => void = () => undefined, reappearingMs: () => number = () => 0,
  ) {
    this.#record = record;
    this.#reappearingMs = reappearingMs;
    this.apply({
      kind: "events", stream: metastreamOf("$scavenges"), created: 0,
      events: [{
        id: "00000000-0000-4000-8000-000000000001", type: metadataType, contentType: "application/json",
        data: Buffer.from('{"$maxAge":2592000}'), metadata: nothing,
      }],
    });
  }

  /** Records in the log, scavenged ones included. */
  get length(): number {
    return this.#log.length;
  }

  /** The record at an index, undefined where a scavenge took it. */
  at(index: number): Stored | undefined {
    return this.#log[index];
  }

  /** The position of the record at an index; behind the last one the log's end. */
  positionAt(index: number): bigint {
    return this.#positions[index] ?? this.#end;
  }

  /** The index of the first record at or after a position. */
  indexFrom(position: bigint): number {
    let [low, high] = [0, this.#positions.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#positions[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Undefined when nothing was ever written to it or its metadata. */
  stream(name: string): Stream | undefined {
    return this.#streams.get(name);
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Appends under the server's rules of concurrency and idempotency. */
  append(name: string, expected: Expected, events: readonly Proposed[]): WriteOutcome {
    const checked = check(this.#streams.get(name), expected, events.map(({ id }) => id));
    if (checked.kind !== "write") return this.#answered(checked);
    if (events.length === 0) {
      this.#end += BigInt(recordOverhead);
      return { kind: "written", revision: checked.current, position: this.#end };
    }
    this.#change({ kind: "events", stream: name, created: Date.now(), events });
    const stream = this.#streams.get(name)!;
    const { revision, position } = stream.last!;
    if (checked.undeletes) {
      const begunAt = performance.now();
      stream.isBack = () => performance.now() >= begunAt + this.#reappearingMs();
      this.#writeMetadata(name, { $tb: Number(checked.current) + 1 });
    }
    return { kind: "written", revision, position };
  }

  /** Soft-deletes: the events leave the stream, not the log. */
  delete(name: string, expected: Expected): WriteOutcome {
    const stream = this.#streams.get(name);
    const checked = check(stream, expected, [""]);
    if (checked.kind !== "write") return this.#answered(checked);
    if (checked.current === noEvent) return { kind: "conflict", current: noEvent };
    this.#writeMetadata(name, { ...stream?.metadata, $tb: softDeletedBefore });
    return { kind: "written", revision: checked.current, position: this.#positions.at(-1)! };
  }

  /** Deletes for good. */
  tombstone(name: string, expected: Expected, id: string): WriteOutcome {
    const checked = check(this.#streams.get(name), expected, [""]);
    if (checked.kind !== "write") return this.#answered(checked);
    this.#change({ kind: "tombstone", stream: name, created: Date.now(), id });
    return { kind: "written", revision: tombstoneRevision, position: this.#positions.at(-1)! };
  }

  /** Removes from the log the events before a position that streams no longer show. */
  scavenge(before = this.#end): void {
    this.#change({ kind: "scavenge", before });
  }

  /** Makes a change without recording it, for the start from a file. */
  apply(change: Change): void {
    if (change.kind === "scavenge") return this.#sweep(change.before);
    const stream = this.#open(change.stream);
    if (change.kind === "tombstone") {
      const event = { id: change.id, type: "$streamDeleted", contentType: "", data: nothing, metadata: nothing };
      this.#push(stream, event, tombstoneRevision, change.created);
      return;
    }
    for (const event of change.events) {
      this.#push(stream, event, (stream.last?.revision ?? noEvent) + 1n, change.created);
      if (change.stream.startsWith("$$") && event.type === metadataType) {
        this.#open(change.stream.slice(2)).metadata = JSON.parse(Buffer.from(event.data).toString()) as object;
      }
    }
  }

  #answered(checked: Exclude<Check, { kind: "write" }>): WriteOutcome {
    if (checked.kind !== "repeated") return checked;
    const { revision, position } = checked.last;
    return { kind: "written", revision, position };
  }

  #writeMetadata(name: string, metadata: object): void {
    const text = JSON.stringify(metadata).replace(String(softDeletedBefore), String(tombstoneRevision));
    const events = [{
      id: crypto.randomUUID(), type: metadataType, contentType: "application/json", data: Buffer.from(text),
      metadata: nothing,
    }];
    this.#change({ kind: "events", stream: metastreamOf(name), created: Date.now(), events });
  }

  #change(change: Change): void {
    this.#record(change);
    this.apply(change);
    for (const listener of this.#listeners) listener();
  }

  #open(name: string): Stream {
    let stream = this.#streams.get(name);
    if (!stream) {
      stream = new Stream(name);
      this.#streams.set(name, stream);
    }
    return stream;
  }

  #push(stream: Stream, event: Proposed, revision: bigint, created: number): void {
    const stored: Stored = { ...event, stream: stream.name, revision, position: this.#end, created };
    this.#log.push(stored);
    this.#positions.push(this.#end);
    stream.push(stored);
    this.#end += BigInt(recordOverhead + stream.name.length + event.type.length + event.data.length
      + event.metadata.length);
  }

  #sweep(before: bigint): void {
    for (let index = 0; index < this.indexFrom(before); index++) {
      const stored = this.#log[index];
      if (stored && !this.#streams.get(stored.stream)!.shows(stored)) this.#log[index] = undefined;
    }
    for (const stream of this.#streams.values()) stream.sweep(before);
  }
}
