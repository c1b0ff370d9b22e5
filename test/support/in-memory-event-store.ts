import {
  noStream,
  RevisionConflict,
  type Appended,
  type BatchHandler,
  type EventStore,
  type LogEntry,
  type NewEntry,
  type Position,
  type RecordedEvent,
  type Subscription,
  type SubscriptionOptions,
} from "../../src/ports/event-store.ts";
import { JsonEventCodec } from "../../src/adapters/event-codec/event-codec.ts";
import type { EventCodec } from "../../src/ports/event-codec.ts";
import { Followers } from "./followers.ts";
import { position } from "./position.ts";

/** The port as plainly as it can be said, for tests that need no engine. Facts pass through the codec, as in any. */
export class InMemoryEventStore implements EventStore {
  readonly #log: RecordedEvent[] = [];
  readonly #nextRevision = new Map<string, number>();
  readonly #deleted = new Set<RecordedEvent>();
  readonly #followers = new Followers((after, limit) => this.readLog(after, limit));
  readonly #codec: EventCodec = new JsonEventCodec();
  /** Called before each append; may throw in its stead. */
  beforeAppend: (stream: string, entries: readonly NewEntry[]) => void | Promise<void> = () => undefined;

  async append(stream: string, expected: number, entries: readonly NewEntry[]): Promise<Appended> {
    await this.beforeAppend(stream, entries);
    const live = this.#live(stream);
    const actual = live.at(-1)?.revision ?? noStream;
    if (actual !== expected) throw new RevisionConflict(stream, expected, actual);
    const stored = entries.map(({ id, event, metadata }) => {
      const decoded = this.#codec.decode(this.#codec.encode(event, metadata));
      if ("unreadable" in decoded) throw new Error(decoded.unreadable);
      const { type, data } = decoded.event;
      return { id, type, data, metadata: decoded.metadata };
    });
    let revision = this.#nextRevision.get(stream) ?? 0;
    for (const entry of stored) {
      this.#log.push({ ...entry, stream, revision, position: position(this.#log.length + 1) });
      revision += 1;
    }
    this.#nextRevision.set(stream, revision);
    this.#followers.wake();
    return { revision: revision - 1, position: position(this.#log.length) };
  }

  async readStream(
    stream: string,
    {
      from,
      limit,
      backwards = false,
    }: { readonly from?: number; readonly limit?: number; readonly backwards?: boolean } = {},
  ): Promise<readonly LogEntry[]> {
    const live = this.#live(stream);
    const inOrder = backwards ? live.toReversed() : live;
    const wanted = inOrder.filter(
      ({ revision }) => from === undefined || (backwards ? revision <= from : revision >= from),
    );
    return wanted.slice(0, limit);
  }

  async deleteStream(stream: string, expected?: number): Promise<void> {
    const live = this.#live(stream);
    const actual = live.at(-1)?.revision ?? noStream;
    if (expected !== undefined && actual !== noStream && actual !== expected) {
      throw new RevisionConflict(stream, expected, actual);
    }
    for (const entry of live) this.#deleted.add(entry);
  }

  async readLog(
    after: Position,
    limit: number,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly upTo: Position }> {
    const from = Number(after);
    const entries = this.#log.slice(from, from + limit);
    return { entries: entries.filter((entry) => !this.#deleted.has(entry)), upTo: entries.at(-1)?.position ?? after };
  }

  async head(): Promise<Position> {
    return position(this.#log.length);
  }

  subscribe(options: SubscriptionOptions, handle: BatchHandler): Subscription {
    return this.#followers.subscribe(options, handle);
  }

  #live(stream: string): RecordedEvent[] {
    return this.#log.filter((entry) => entry.stream === stream && !this.#deleted.has(entry));
  }
}
