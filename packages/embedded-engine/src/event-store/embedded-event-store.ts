import { MessageChannel, MessagePort, Worker } from "node:worker_threads";
import type { Clock } from "../../../../src/kernel/ports/clock.ts";
import { entryOf, type EncodedEvent, type EventCodec } from "../../../../src/kernel/ports/event-codec.ts";
import {
  EntryTooLarge, LogUnavailable, noStream, RevisionConflict, UnacceptableEntry, type Appended, type AppendOptions,
  type BatchHandler, type DeleteOptions, type EntryTime, type EventStore, type LogEntry, type NewEntry, type Position,
  type ReadOptions, type Subscription, type SubscriptionOptions, type Wanted,
} from "../../../../src/kernel/ports/event-store.ts";
import { endThread } from "../../../../src/kernel/threads/threads.ts";
import { TurnBatcher, inTurn } from "../../../../src/kernel/threads/turns.ts";
import { AppendQueue } from "./append-queue.ts";
import { EntryReaders } from "./entry-readers.ts";
import { logPath } from "./log-file.ts";
import { LogReader } from "./log-reader.ts";
import { PendingRequests } from "./pending-requests.ts";
import { isPosition, positionOf, sequenceOf, type Sequence } from "./positions.ts";
import {
  defaultTuning, entryTexts, type Control, type EmbeddedEventStoreStats, type ReadRequest, type Reply, type Request,
  type Started, type StreamRows, type Anomaly, type Tuning,
} from "./protocol.ts";
import { LogSubscription } from "./subscription.ts";

/** The most bytes of one append, as in EventStoreDB. */
export const appendBytesLimit = 1024 * 1024;
/** Bytes that `readLog` decodes without a pause: a few milliseconds. */
const portionBytes = 512 * 1024;
/** UTF-16 units that `readStream` decodes without a pause. */
const portionUnits = 128 * 1024;

/** Options of every client of the log, in any thread. `tuning` overrides {@link defaultTuning}. */
export interface ClientOptions {
  readonly codec: EventCodec;
  readonly clock: Clock;
  /** Called when a subscription's handler or read fails; it is repeated. */
  readonly onAnomaly?: (error: unknown) => void;
  readonly tuning?: Partial<Tuning>;
}

/** Options of the client that starts and ends the log thread. */
export interface EmbeddedEventStoreOptions extends ClientOptions {
  /** Created if missing; held for this process alone until `close`. */
  readonly dataDir: string;
  /** Called when the log thread has died. No append is possible any more, so the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** Called about background work that keeps failing and is repeated: a disk may be full. */
  readonly onHousekeepingProblem?: (error: Error) => void;
}

/** Starts the log thread. Rejects if the folder is in use, not writable or of another version. */
export async function openEmbeddedEventStore(options: EmbeddedEventStoreOptions): Promise<EmbeddedEventStore> {
  const tuning = { ...defaultTuning, ...options.tuning };
  const thread = new Worker(new URL("./log-thread.ts", import.meta.url), {
    name: "log", workerData: { dataDir: options.dataDir, tuning },
  });
  await new Promise<void>((resolve, reject) => {
    thread.once("message", (_started: Started) => resolve());
    thread.once("error", reject);
  });
  const client = await EmbeddedEventStore.attach(connect(thread), options);
  client.own(thread, options);
  return client;
}

/** A client of the log thread, in any thread. */
export class EmbeddedEventStore implements EventStore {
  readonly #port: MessagePort;
  readonly #codec: EventCodec;
  readonly #clock: Clock;
  readonly #tuning: Tuning;
  readonly #onAnomaly: (error: unknown) => void;
  readonly #head: BigInt64Array;
  readonly #armed: Int32Array;
  readonly #reader: LogReader;
  readonly #appends: AppendQueue;
  readonly #requests: PendingRequests;
  readonly #reads = new TurnBatcher<ReadRequest>((reads) => this.#post({ kind: "reads", reads }));
  readonly #subscriptions = new Set<LogSubscription>();
  #thread: Worker | null = null;
  #entryReaders: EntryReaders | null = null;
  #unavailable: LogUnavailable | null = null;
  #closed: Promise<void> | null = null;

  static async attach(port: MessagePort, options: ClientOptions): Promise<EmbeddedEventStore> {
    const welcome = await new Promise<Extract<Reply, { kind: "welcome" }>>((resolve, reject) => {
      port.once("message", resolve);
      port.once("close", () => reject(new LogUnavailable("the event store is closed")));
    });
    return new EmbeddedEventStore(port, welcome, options);
  }

  private constructor(port: MessagePort, welcome: Extract<Reply, { kind: "welcome" }>, options: ClientOptions) {
    this.#port = port;
    this.#codec = options.codec;
    this.#clock = options.clock;
    this.#tuning = { ...defaultTuning, ...options.tuning };
    this.#onAnomaly = options.onAnomaly ?? (() => {});
    this.#head = new BigInt64Array(welcome.head);
    this.#armed = new Int32Array(welcome.armed);
    this.#reader = new LogReader(welcome.path, options.codec);
    this.#appends = new AppendQueue(
      (batch) => this.#post(batch),
      (commit) => {
        for (const subscription of this.#subscriptions) subscription.offer(commit);
      },
      this.#clock,
      this.#tuning,
    );
    this.#requests = new PendingRequests(this.#clock, this.#tuning.timeoutMs);
    port.on("message", (reply: Reply) => this.#receive(reply));
    port.on("close", () => this.#fail(new LogUnavailable("the event store is closed")));
  }

  /** Makes this client the thread's owner, which ends the thread when it closes. */
  own(thread: Worker, { dataDir, onFatal, onHousekeepingProblem }: EmbeddedEventStoreOptions): void {
    this.#thread = thread;
    this.#entryReaders = new EntryReaders(logPath(dataDir), (answers) => this.#requests.settleAll(answers));
    thread.on("message", ({ trouble }: Anomaly) => onHousekeepingProblem?.(new Error(trouble)));
    thread.on("error", (error: Error) => {
      this.#fail(new LogUnavailable("the log's thread has died", { cause: error }));
      onFatal?.(error);
    });
  }

  append(
    stream: string, expected: number, entries: readonly NewEntry[], { mayWait = false }: AppendOptions = {},
  ): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.#unavailable) throw this.#unavailable;
      if (stream === "" || entries.length === 0) throw new UnacceptableEntry("an append needs a stream and an entry");
      const encoded = entries.map(({ event, metadata }) => this.#codec.encode(event, metadata));
      this.#appends.add(stream, expected, { entries, mayWait, resolve, reject }, encoded, lengthOf(encoded));
    });
  }

  async readStream(stream: string, options: ReadOptions = {}): Promise<readonly LogEntry[]> {
    const { backwards = false, limit = Infinity, from = backwards ? Infinity : 0, beginsAt } = options;
    if (beginsAt !== undefined && limit === 1) {
      const first = await this.#readAt(stream, sequenceOf(beginsAt));
      if (first.length > 0) return first;
    }
    const rows = await this.#asked((request) => this.#reads.add({ request, stream, from, limit, backwards }));
    return this.#entriesIn(stream, rows);
  }

  async deleteStream(stream: string, expected?: number, { forGood = false }: DeleteOptions = {}): Promise<void> {
    this.#appends.flush();
    const deletion = { kind: "delete", stream, expected: expected ?? null, forGood } as const;
    const actual = (await this.#request(deletion)) as number | null;
    if (actual !== null) throw new RevisionConflict(stream, expected ?? noStream, actual);
  }

  async readLog(
    after: Position, limit: number,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly upTo: Position }> {
    if (this.#unavailable) throw this.#unavailable;
    for (let reached = sequenceOf(after); limit > 0;) {
      const from = reached;
      const { entries, upTo } = await inTurn(() => this.#read(from, limit, {}, portionBytes));
      if (entries.length > 0 || upTo === reached) return { entries, upTo: positionOf(upTo) };
      reached = upTo;
    }
    return { entries: [], upTo: after };
  }

  async readTimes(
    after: Position, limit: number,
  ): Promise<{ readonly times: readonly EntryTime[]; readonly upTo: Position }> {
    if (this.#unavailable) throw this.#unavailable;
    for (let reached = sequenceOf(after); limit > 0;) {
      const from = reached;
      const read = () => this.#reader.times(from, this.#committed(), limit);
      const { times, upTo } = await inTurn(() => this.#readable(read));
      if (times.length > 0 || upTo === reached) return { times, upTo: positionOf(upTo) };
      reached = upTo;
    }
    return { times: [], upTo: after };
  }

  async head(): Promise<Position> {
    if (this.#unavailable) throw this.#unavailable;
    return positionOf(this.#committed());
  }

  end(): Promise<Position> {
    return this.head();
  }

  isPosition(text: string): boolean {
    return isPosition(text);
  }

  subscribe({ after, ...wanted }: SubscriptionOptions, handle: BatchHandler): Subscription {
    const source = {
      clock: this.#clock,
      head: () => this.#committed(),
      read: (from: Sequence, limit: number, only: Wanted) => this.#read(from, limit, only),
      arm: () => void Atomics.store(this.#armed, 0, 1),
      onAnomaly: this.#onAnomaly,
    };
    const subscription = new LogSubscription(
      source, sequenceOf(after), wanted, handle, this.#tuning.subscriptionEntries,
    );
    this.#subscriptions.add(subscription);
    const stop = async () => {
      await subscription.stop();
      this.#subscriptions.delete(subscription);
    };
    return { stop };
  }

  connect(): MessagePort {
    if (!this.#thread) throw new Error("only the client that opened the store connects others");
    return connect(this.#thread);
  }

  async stats(): Promise<EmbeddedEventStoreStats> {
    return await this.#request({ kind: "stats" }) as EmbeddedEventStoreStats;
  }

  /** Rejects if the log cannot be written, or its thread does not answer. */
  async ping(): Promise<void> {
    await this.#request({ kind: "ping" });
  }

  /** Resolves when the files hold no byte of deleted entries. Waits for readers, such as a backup, without limit. */
  async scrub(): Promise<void> {
    await this.#request({ kind: "scrub" }, Infinity);
  }

  /** Waits for pending appends and handlers, then closes; the owner also ends the thread. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#reads.flush();
    await this.#appends.idle();
    this.#unavailable ??= new LogUnavailable("the event store is closed");
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await this.#entryReaders?.close();
    if (this.#thread) await endThread(this.#thread, { kind: "close" } satisfies Control);
    this.#port.close();
    this.#reader.close();
  }

  async #readAt(stream: string, sequence: Sequence): Promise<readonly LogEntry[]> {
    const readers = this.#entryReaders;
    if (!readers) return [];
    return this.#entriesIn(stream, await this.#asked((request) => readers.send({ request, stream, sequence })));
  }

  /** Decodes rows; long ones in portions, see {@link inTurn}. */
  #entriesIn(stream: string, rows: unknown): readonly LogEntry[] | Promise<readonly LogEntry[]> {
    const { revisions, sequences, texts } = rows as StreamRows;
    const entry = (revision: number, index: number) => {
      const [id, type, metadata, data] = texts.slice(index * entryTexts, (index + 1) * entryTexts) as
        [string, string, string, string];
      const position = positionOf(sequences[index]!);
      return entryOf(this.#codec, { stream, revision, position, id, type, metadata, data });
    };
    const units = texts.reduce((sum, text) => sum + text.length, 0);
    if (units <= portionUnits) return revisions.map(entry);
    const atOnce = Math.max(1, Math.floor((revisions.length * portionUnits) / units));
    const portions = Array.from({ length: Math.ceil(revisions.length / atOnce) }, (_, portion) =>
      inTurn(() => revisions.slice(portion * atOnce, (portion + 1) * atOnce)
        .map((revision, at) => entry(revision, portion * atOnce + at))));
    return Promise.all(portions).then((decoded) => decoded.flat());
  }

  #committed(): Sequence {
    return Number(Atomics.load(this.#head, 0));
  }

  #read(after: Sequence, limit: number, wanted: Wanted, mostBytes?: number) {
    return this.#readable(() => this.#reader.read(after, this.#committed(), limit, wanted, mostBytes));
  }

  #readable<Part>(read: () => Part): Part {
    try {
      return read();
    } catch (error) {
      throw new LogUnavailable("the log cannot be read", { cause: error });
    }
  }

  #receive(reply: Reply): void {
    switch (reply.kind) {
      case "appended":
      case "failed":
        this.#appends.settle(reply);
        return;
      case "answer":
      case "refused":
        this.#requests.settle(reply);
        return;
      case "read":
        this.#requests.settleAll(reply.answers);
        return;
      case "wake":
        for (const subscription of this.#subscriptions) subscription.wake();
        return;
      case "welcome":
        throw new Error("welcomed twice");
    }
  }

  #request(
    request: Unnumbered<Exclude<Request, { kind: "append" | "reads" }>>, patienceMs?: number,
  ): Promise<unknown> {
    return this.#asked((number) => this.#post({ ...request, request: number }), patienceMs);
  }

  #asked(send: (number: number) => void, patienceMs?: number): Promise<unknown> {
    return this.#unavailable ? Promise.reject(this.#unavailable) : this.#requests.ask(send, patienceMs);
  }

  #post(request: Request): void {
    this.#port.postMessage(request);
  }

  #fail(error: LogUnavailable): void {
    this.#unavailable ??= error;
    this.#appends.fail(this.#unavailable);
    this.#requests.fail(this.#unavailable);
    // Subscriptions get no commits from memory any more, but can still read the log.
    for (const subscription of this.#subscriptions) subscription.wake();
  }
}

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "request"> : never;

function connect(thread: Worker): MessagePort {
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ kind: "connect", port: port2 } satisfies Control, [port2]);
  return port1;
}

/** Throws if an entry would look like a deletion, or the append is too large. */
function lengthOf(encoded: readonly EncodedEvent[]): number {
  let length = 0;
  for (const { type, data, metadata } of encoded) {
    if (type === "") throw new UnacceptableEntry("an entry needs a type");
    length += type.length + data.length + metadata.length;
  }
  // A unit takes at most three bytes, so most appends need no measuring.
  if (length * 3 > appendBytesLimit) requireSize(encoded);
  return length;
}

function requireSize(encoded: readonly EncodedEvent[]): void {
  let bytes = 0;
  for (const { type, data, metadata } of encoded) {
    bytes += Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
  }
  if (bytes > appendBytesLimit) throw new EntryTooLarge(`an append has ${appendBytesLimit} bytes at most`);
}
