import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import type { EventCodec } from "../../src/kernel/ports/event-codec.ts";
import {
  noStream, RevisionConflict, type Appended, type DeleteOptions, type EventStore, type NewEntry, type Position,
  type RecordedEvent,
} from "../../src/kernel/ports/event-store.ts";
import { position } from "./position.ts";

/** A fact that has passed through the codec, as in any engine. */
export type StoredEntry = Pick<RecordedEvent, "id" | "type" | "data" | "metadata">;

const facts = new JsonEventCodec();

/** An entry as an engine would give it back. Throws when it is no valid fact. */
export function stored({ id, event, metadata }: NewEntry, codec: EventCodec = facts): StoredEntry {
  const decoded = codec.decode(codec.encode(event, metadata));
  if ("unreadable" in decoded) throw new Error(decoded.unreadable);
  const { type, data } = decoded.event;
  return { id, type, data, metadata: decoded.metadata };
}

/** A plain implementation of an event store's entries: synchronous, and without failures. */
export class MemoryLog {
  readonly #log: RecordedEvent[] = [];
  /** The streams that are not deleted. */
  readonly #streams = new Map<string, RecordedEvent[]>();
  readonly #nextRevision = new Map<string, number>();
  readonly #deleted = new Set<RecordedEvent>();
  /** The streams that are deleted for good. */
  readonly #closed = new Set<string>();

  get head(): Position {
    return position(this.#log.length);
  }

  /** Also returns the entries as recorded. Throws RevisionConflict. */
  append(
    stream: string, expected: number, entries: readonly StoredEntry[],
  ): { readonly appended: Appended; readonly recorded: readonly RecordedEvent[] } {
    if (this.#closed.has(stream)) throw new RevisionConflict(stream, expected, noStream);
    const repeated = this.#repeated(stream, expected, entries);
    if (repeated) return { appended: repeated, recorded: [] };
    const live = this.#expected(stream, expected);
    let revision = this.#nextRevision.get(stream) ?? 0;
    const recorded = entries.map((entry) => {
      const one = { ...entry, stream, revision, position: position(this.#log.length + 1) };
      this.#log.push(one);
      revision += 1;
      return one;
    });
    this.#streams.set(stream, live);
    live.push(...recorded);
    this.#nextRevision.set(stream, revision);
    return { appended: { revision: revision - 1, position: this.head }, recorded };
  }

  readStream(
    stream: string, { from, limit, backwards = false }: NonNullable<Parameters<EventStore["readStream"]>[1]> = {},
  ): readonly RecordedEvent[] {
    const live = this.#streams.get(stream) ?? [];
    const inOrder = backwards ? live.toReversed() : live;
    return inOrder
      .filter(({ revision }) => from === undefined || (backwards ? revision <= from : revision >= from))
      .slice(0, limit);
  }

  /** Returns whether there was such a stream. Throws RevisionConflict. */
  delete(stream: string, expected?: number, { forGood = false }: DeleteOptions = {}): boolean {
    const live = this.#streams.has(stream) ? this.#expected(stream, expected) : [];
    for (const entry of live) this.#deleted.add(entry);
    if (forGood) this.#closed.add(stream);
    return this.#streams.delete(stream);
  }

  /** As of the port; `withDeleted` includes deleted entries, like an engine that has not removed them yet. */
  readLog(
    after: Position, limit: number, { withDeleted = false }: { readonly withDeleted?: boolean } = {},
  ): { readonly entries: readonly RecordedEvent[]; readonly upTo: Position } {
    const found = this.#log.slice(Number(after), Number(after) + limit);
    const entries = withDeleted ? found : found.filter((entry) => !this.#deleted.has(entry));
    return { entries, upTo: found.at(-1)?.position ?? after };
  }

  /** The outcome of an append that is repeated. */
  #repeated(stream: string, expected: number, entries: readonly StoredEntry[]): Appended | undefined {
    const first = (this.#streams.get(stream) ?? []).filter(({ revision }) => revision > expected);
    const last = first[entries.length - 1];
    if (!last || !entries.every(({ id }, at) => first[at]?.id === id)) return undefined;
    return { revision: last.revision, position: last.position };
  }

  /** The stream's entries, if its revision is the expected one. */
  #expected(stream: string, expected: number | undefined): RecordedEvent[] {
    const live = this.#streams.get(stream) ?? [];
    const actual = live.at(-1)?.revision ?? noStream;
    if (expected !== undefined && actual !== expected) throw new RevisionConflict(stream, expected, actual);
    return live;
  }
}
