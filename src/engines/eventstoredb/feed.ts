import { setImmediate } from "node:timers/promises";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { Clock } from "../../kernel/ports/clock.ts";
import { logStart, type LogEntry, type Position } from "../../kernel/ports/event-store.ts";
import type { Connection } from "./connection.ts";
import { grpcCode } from "./failures.ts";
import { isPossible, pairOf } from "./positions.ts";
import type { Received } from "./received.ts";
import { bytesOf, type StoredRecord } from "./records.ts";
import { subscribeRequest, type Filter } from "./requests.ts";
import type { Tuning } from "./tuning.ts";

/** The parts of the store that a subscription uses. */
export interface SubscriptionContext {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly tuning: Tuning;
  /** Called with the error of a call or handler that is repeated. */
  readonly onAnomaly: (error: unknown) => void;
  /** Undefined for records of other applications. */
  readonly entry: (record: StoredRecord) => LogEntry | undefined;
  readonly newest: () => Position;
  readonly head: () => Promise<Position>;
  readonly page: (after: Position) => Promise<readonly StoredRecord[]>;
}

/** Entries received together, the position that they cover, and their size. */
export interface Batch {
  readonly entries: readonly LogEntry[];
  readonly upTo: Position;
  readonly bytes: number;
}

type Call = ReturnType<Connection["read"]>;

/** One subscription call; pauses the server while its buffer is full. */
export class Feed {
  readonly #context: SubscriptionContext;
  readonly #wants: (record: StoredRecord) => boolean;
  #call: Call | undefined;
  #entries: LogEntry[] = [];
  #bytes = 0;
  /** All entries up to here are handed out or buffered. */
  #covered: Position;
  #given: Position;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;
  #wake: () => void = () => undefined;
  /** A wanted entry that has not come yet; `since` is monotonic. */
  #overdue: { readonly position: Position; readonly since: number } | undefined;

  constructor(
    context: SubscriptionContext, after: Position, filter: Filter, wants: (record: StoredRecord) => boolean,
  ) {
    this.#context = context;
    this.#wants = wants;
    this.#covered = this.#given = after;
    const request = subscribeRequest(after === logStart ? undefined : pairOf(after), filter);
    this.#open(request).catch((error: unknown) => this.#fail(error));
  }

  /** The next batch; undefined after closing. Rejects, after the last batch, with the call's error. */
  async next(): Promise<Batch | undefined> {
    while (!this.#closed) {
      if (this.#covered > this.#given) {
        // Records of one network read go into one batch.
        await setImmediate();
        return this.#give();
      }
      if (this.#failure) throw this.#failure.error;
      const { newest, tuning } = this.#context;
      const ms = newest() > this.#covered ? tuning.behindMs : tuning.idleMs;
      if (await this.#isQuietFor(ms)) await this.#lookAhead();
    }
    return undefined;
  }

  close(): void {
    this.#closed = true;
    this.#call?.cancel();
    this.#wake();
  }

  async #open(request: streams.ReadReq): Promise<void> {
    const { connection, tuning } = this.#context;
    const client = await connection.streams(tuning.readMs);
    if (this.#closed) return;
    const call = connection.read(client, request, Infinity);
    this.#call = call;
    call.on("data", (received: Received) => this.#receive(received));
    call.on("status", ({ code }: { readonly code: number }) => {
      if (code === grpcCode.ok) this.#fail(new Error("the server ended the subscription"));
    });
    call.on("error", (error: Error) => {
      if (!this.#closed) void connection.failed(client, error).then(() => this.#fail(error));
    });
  }

  #receive({ record, checkpoint }: Received): void {
    this.#context.connection.answered();
    if (record) {
      // Looking ahead has skipped it.
      if (record.position <= this.#covered) return;
      this.#covered = record.position;
      const entry = this.#wants(record) ? this.#context.entry(record) : undefined;
      if (entry) {
        this.#entries.push(entry);
        this.#bytes += bytesOf(record);
      }
      const { bufferEntries, bufferBytes } = this.#context.tuning;
      if (this.#entries.length >= bufferEntries || this.#bytes >= bufferBytes) this.#call?.pause();
    } else if (checkpoint !== undefined && checkpoint > this.#covered && isPossible(checkpoint)) {
      // A checkpoint covers all records before it, which were sent already.
      this.#covered = checkpoint;
    }
    this.#wake();
  }

  #give(): Batch {
    const batch = { entries: this.#entries, upTo: this.#covered, bytes: this.#bytes };
    this.#entries = [];
    this.#bytes = 0;
    this.#given = this.#covered;
    this.#call?.resume();
    return batch;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** True if neither a message nor the end comes in this time. */
  async #isQuietFor(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#context.clock.schedule(ms, () => resolve(true));
      this.#wake = () => {
        timer.cancel();
        resolve(false);
      };
    });
  }

  /**
   * Reads ahead while the subscription is quiet: checkpoints are rare, and a frozen server sends nothing. Skips
   * unwanted records. The call is dead if a wanted record never comes.
   */
  async #lookAhead(): Promise<void> {
    const { newest, head, page, clock, tuning } = this.#context;
    if (newest() <= this.#covered && (await head()) <= this.#covered) return;
    const from = this.#covered;
    const records = await page(from);
    if (this.#covered !== from || this.#closed) return;
    const wanted = records.find((record) => this.#wants(record) && this.#context.entry(record));
    if (!wanted) {
      this.#covered = records.at(-1)?.position ?? from;
      return;
    }
    if (this.#overdue?.position !== wanted.position) {
      this.#overdue = { position: wanted.position, since: clock.monotonic() };
    }
    const leftMs = this.#overdue.since + tuning.stallMs - clock.monotonic();
    if (leftMs > 0) {
      // The next message may bring no progress: a checkpoint passed long ago.
      await this.#isQuietFor(leftMs);
      return;
    }
    throw new Error(`what the log holds did not come of the subscription for ${tuning.stallMs} ms`);
  }
}
