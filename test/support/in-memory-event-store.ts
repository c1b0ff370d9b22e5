import { randomUUID } from "node:crypto";
import { isPosition } from "../../packages/embedded-engine/src/index.ts";
import type { EventCodec } from "../../src/kernel/ports/event-codec.ts";
import {
  noStream, timesOf, type Appended, type AppendOptions, type BatchHandler, type EventStore, type LogEntry,
  type NewEntry, type Position, type Subscription, type SubscriptionOptions,
} from "../../src/kernel/ports/event-store.ts";
import { Followers } from "./followers.ts";
import { MemoryLog, stored, type StoredEntry } from "./memory-log.ts";

/** A plain implementation of the port, for tests that need no engine. */
export class InMemoryEventStore implements EventStore {
  readonly #codec: EventCodec | undefined;
  readonly #log = new MemoryLog();
  readonly #followers = new Followers((after, limit) => this.readLog(after, limit));
  /** Called before each read of a stream; may throw in its stead. */
  beforeStreamRead: () => void = () => undefined;
  /** Called before each append; may throw in its stead. */
  beforeAppend: (
    stream: string, entries: readonly NewEntry[], options: AppendOptions,
  ) => void | Promise<void> = () => undefined;

  /** `codec`: how entries pass into the log; by default as facts. */
  constructor(codec?: EventCodec) {
    this.#codec = codec;
  }

  async append(
    stream: string, expected: number, entries: readonly NewEntry[], options: AppendOptions = {},
  ): Promise<Appended> {
    await this.beforeAppend(stream, entries, options);
    const { appended } = this.#log.append(stream, expected, entries.map((entry) => stored(entry, this.#codec)));
    this.#followers.wake();
    return appended;
  }

  /** Adds an entry to a stream as a newer release writes it: its type, or its version, is not known here. */
  async appendNewer(stream: string, type = "FromTheFuture"): Promise<void> {
    const newest = this.#log.readStream(stream, { backwards: true, limit: 1 })[0];
    const entry = { id: randomUUID(), type, unreadable: "unknown type", newer: true };
    this.#log.append(stream, newest?.revision ?? noStream, [entry as unknown as StoredEntry]);
    this.#followers.wake();
  }

  async readStream(...asked: Parameters<EventStore["readStream"]>): Promise<readonly LogEntry[]> {
    this.beforeStreamRead();
    return this.#log.readStream(...asked);
  }

  async deleteStream(...asked: Parameters<EventStore["deleteStream"]>): Promise<void> {
    this.#log.delete(...asked);
  }

  async readLog(
    after: Position, limit: number,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly upTo: Position }> {
    return this.#log.readLog(after, limit);
  }

  async readTimes(after: Position, limit: number) {
    const { entries, upTo } = await this.readLog(after, limit);
    return { times: timesOf(entries), upTo };
  }

  async head(): Promise<Position> {
    return this.#log.head;
  }

  end(): Promise<Position> {
    return this.head();
  }

  isPosition(text: string): boolean {
    return isPosition(text);
  }

  subscribe(options: SubscriptionOptions, handle: BatchHandler): Subscription {
    return this.#followers.subscribe(options, handle);
  }
}
