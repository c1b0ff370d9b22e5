import type { Clock } from "../../kernel/ports/clock.ts";
import { entryOf, type EventCodec } from "../../kernel/ports/event-codec.ts";
import {
  LogUnavailable, logStart, timesOf, type Appended, type BatchHandler, type DeleteOptions, type EntryTime,
  type EventStore, type LogEntry, type NewEntry, type Position, type ReadOptions, type Subscription,
  type SubscriptionOptions,
} from "../../kernel/ports/event-store.ts";
import { AppendCalls } from "./append-calls.ts";
import { Connection } from "./connection.ts";
import { unavailable } from "./failures.ts";
import type { SubscriptionContext } from "./feed.ts";
import { LogReader } from "./log-reader.ts";
import { OwnEntries } from "./own-entries.ts";
import { isPosition, pairOf } from "./positions.ts";
import { readRecords } from "./reading.ts";
import { encodedOf, isFence, isOwn, isSystem, type StoredRecord } from "./records.ts";
import { readStreamRequest } from "./requests.ts";
import { StreamWriter } from "./stream-writer.ts";
import { LogSubscription } from "./subscription.ts";
import { Tail } from "./tail.ts";
import { defaultTuning, type Tuning } from "./tuning.ts";

/** Missing fields of `tuning` are those of {@link defaultTuning}. */
export interface EventStoreDbOptions {
  /** Such as `esdb://host:2113?tls=false`, or `esdb+discover://` for a cluster. */
  readonly url: string;
  readonly codec: EventCodec;
  readonly clock: Clock;
  /** Called when a connection, a subscription's handler or an append fails; it is repeated. */
  readonly onAnomaly?: (error: unknown) => void;
  readonly tuning?: Partial<Tuning>;
}

/** The event store on EventStoreDB 22.6 or newer; reconnects without limit. Throws for an invalid address. */
export class EventStoreDb implements EventStore {
  readonly #codec: EventCodec;
  readonly #tuning: Tuning;
  readonly #connection: Connection;
  /** For subscriptions and reads of the log: they do not wait behind appends and reads of streams. */
  readonly #following: Connection;
  readonly #calls: AppendCalls;
  readonly #writer: StreamWriter;
  readonly #log: LogReader;
  readonly #own = new OwnEntries();
  readonly #subscribing: SubscriptionContext;
  readonly #tail: Tail;
  readonly #subscriptions = new Set<Subscription>();
  #closed: Promise<void> | undefined;

  constructor({ url, codec, clock, onAnomaly = () => undefined, tuning = {} }: EventStoreDbOptions) {
    this.#codec = codec;
    this.#tuning = { ...defaultTuning, ...tuning };
    const connection = new Connection(url, clock, this.#tuning.stallMs);
    const following = new Connection(url, clock, this.#tuning.stallMs);
    [this.#connection, this.#following] = [connection, following];
    this.#calls = new AppendCalls(connection, clock, this.#tuning, onAnomaly);
    const entry = (record: StoredRecord) => this.#entry(record);
    const log = new LogReader(following, this.#tuning, entry);
    this.#log = log;
    this.#writer = new StreamWriter({
      connection, calls: this.#calls, codec, clock, tuning: this.#tuning, own: this.#own,
      onAppended: (position) => log.learn(position),
    });
    this.#subscribing = {
      connection: following, clock, tuning: this.#tuning, onAnomaly, entry,
      newest: () => log.newest, head: () => log.head(), page: (after) => log.page(after),
    };
    this.#tail = new Tail({
      tuning: this.#tuning,
      newest: () => log.newest,
      follow: (after, handle) => new LogSubscription(this.#subscribing, { after, prompt: true }, handle, null),
    });
  }

  async append(stream: string, expected: number, entries: readonly NewEntry[]): Promise<Appended> {
    this.#requireOpen();
    return this.#writer.append(stream, expected, entries);
  }

  async readStream(stream: string, options: ReadOptions = {}): Promise<readonly LogEntry[]> {
    this.#requireOpen();
    const { backwards = false, from, limit = Infinity } = options;
    if (limit === 0) return [];
    const records = await this.#guarded("read", () => readRecords(
      this.#connection, readStreamRequest(stream, { ...options, backwards }), this.#tuning.readMs,
    ));
    const fence = backwards ? records.findIndex(isFence) : records.findLastIndex(isFence);
    const isEndSeen = backwards ? from === undefined : records.length < limit;
    if (records.length > 0 && fence < 0 && !isEndSeen && await this.#endsWithFence(stream)) return [];
    const shown = fence < 0 ? records : backwards ? records.slice(0, fence) : records.slice(fence + 1);
    return shown.filter((record) => !isSystem(record)).map((record) => entryOf(this.#codec, encodedOf(record)));
  }

  async #endsWithFence(stream: string): Promise<boolean> {
    const request = readStreamRequest(stream, { limit: 1, backwards: true });
    const [last] = await this.#guarded("read", () => readRecords(this.#connection, request, this.#tuning.readMs));
    return last !== undefined && isFence(last);
  }

  async deleteStream(stream: string, expected?: number, { forGood = false }: DeleteOptions = {}): Promise<void> {
    this.#requireOpen();
    await (forGood ? this.#writer.close(stream, expected) : this.#writer.delete(stream, expected));
  }

  async readLog(
    after: Position, limit: number,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly upTo: Position }> {
    this.#requireOpen();
    return this.#guarded("read", () => this.#log.read(after, limit));
  }

  async readTimes(
    after: Position, limit: number,
  ): Promise<{ readonly times: readonly EntryTime[]; readonly upTo: Position }> {
    const { entries, upTo } = await this.readLog(after, limit);
    return { times: timesOf(entries), upTo };
  }

  async head(): Promise<Position> {
    this.#requireOpen();
    return this.#guarded("read", () => this.#log.head());
  }

  async end(): Promise<Position> {
    this.#requireOpen();
    return this.#guarded("read", () => this.#log.end(this.#tuning.readMs));
  }

  isPosition(text: string): boolean {
    return isPosition(text);
  }

  subscribe(options: SubscriptionOptions, handle: BatchHandler): Subscription {
    this.#requireOpen();
    if (options.after !== logStart) pairOf(options.after);
    const subscription = new LogSubscription(
      this.#subscribing, options, ({ entries, upTo }) => handle(entries, upTo), this.#tail);
    this.#subscriptions.add(subscription);
    const stop = async () => {
      await subscription.stop();
      this.#subscriptions.delete(subscription);
    };
    return { stop };
  }

  get answeredAt(): number {
    return Math.max(this.#connection.answeredAt, this.#following.answeredAt);
  }

  /** Rejects with LogUnavailable without an answer within about a second, as from a busy server. */
  async ping(): Promise<void> {
    this.#requireOpen();
    await this.#guarded("ping", () => this.#log.end(this.#tuning.pingMs));
  }

  /** Waits for handlers, gives up appends without an outcome, and disconnects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    this.#calls.close();
    await Promise.all([this.#connection, this.#following].map((one) => one.close(this.#tuning.closeMs)));
  }

  #entry(record: StoredRecord): LogEntry | undefined {
    if (!isOwn(record)) return undefined;
    return this.#own.of(record) ?? entryOf(this.#codec, encodedOf(record));
  }

  #requireOpen(): void {
    if (this.#closed) throw new LogUnavailable("the event store is closed");
  }

  async #guarded<Result>(doing: string, call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      throw unavailable(doing, error);
    }
  }
}
