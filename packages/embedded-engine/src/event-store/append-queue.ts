import type { Clock, Timer } from "../../../../src/kernel/ports/clock.ts";
import type { EncodedEvent } from "../../../../src/kernel/ports/event-codec.ts";
import {
  LogUnavailable, RevisionConflict, type Appended, type NewEntry, type RecordedEvent,
} from "../../../../src/kernel/ports/event-store.ts";
import { GroupCommitDelay } from "./group-commit-delay.ts";
import { positionOf } from "./positions.ts";
import type { AppendBatch, Exception, Reply, Tuning } from "./protocol.ts";
import type { OwnCommit } from "./subscription.ts";

/** In UTF-16 units, sent and waiting together; beyond it appends are refused at once. */
const waitingBytesLimit = 64 * 1024 * 1024;
/** In UTF-16 units; keeps a transaction short. */
const batchBytesLimit = 4 * 1024 * 1024;
const enoughAppends = 16;

interface WaitingAppend {
  readonly entries: readonly NewEntry[];
  /** Whether the append may be delayed, to be sent with others. */
  readonly mayWait: boolean;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
}

interface Batch {
  readonly message: AppendBatch;
  readonly appends: WaitingAppend[];
  readonly deadline: Timer;
  bytes: number;
}

/** Collects appends into batches, sent at the end of a turn, after {@link GroupCommitDelay} or after an answer. */
export class AppendQueue {
  readonly #send: (batch: AppendBatch) => void;
  readonly #onCommit: (commit: OwnCommit) => void;
  readonly #clock: Clock;
  readonly #tuning: Tuning;
  readonly #waiting: Batch[] = [];
  /** In the order of sending, which is the order of replies. Not a Map: see docs/adr/0024. */
  readonly #inFlight: Batch[] = [];
  readonly #delay: GroupCommitDelay;
  #lastBatch = 0;
  #waitingBytes = 0;
  #urgent = false;
  #holding: Timer | null = null;
  #ending = false;
  #pausing: Timer | null = null;
  #onIdle: (() => void) | null = null;

  constructor(
    send: (batch: AppendBatch) => void, onCommit: (commit: OwnCommit) => void, clock: Clock, tuning: Tuning,
  ) {
    this.#send = send;
    this.#onCommit = onCommit;
    this.#clock = clock;
    this.#tuning = tuning;
    this.#delay = new GroupCommitDelay(tuning.commitDelayMs);
  }

  /** `bytes`: the size of `encoded` in UTF-16 units. Throws LogUnavailable while too many appends wait. */
  add(
    stream: string, expected: number, append: WaitingAppend, encoded: readonly EncodedEvent[], bytes: number,
  ): void {
    if (this.#waitingBytes + bytes > waitingBytesLimit) throw new LogUnavailable("too many appends are waiting");
    const batch = this.#batchFor(bytes);
    const { streams, expected: expectations, counts, texts } = batch.message;
    streams.push(stream);
    expectations.push(expected);
    counts.push(encoded.length);
    for (let at = 0; at < encoded.length; at++) {
      const { type, metadata, data } = encoded[at]!;
      texts.push(append.entries[at]!.id, type, metadata, data);
    }
    batch.bytes += bytes;
    this.#waitingBytes += bytes;
    batch.appends.push(append);
    if (append.mayWait && batch.appends.length < enoughAppends) this.#hold();
    else this.#urge();
  }

  /** Sends all waiting appends at once, so that the next message does not overtake them. */
  flush(): void {
    while (this.#waiting.length > 0) this.#sendNext();
  }

  /** Passes on the log thread's reply: to subscriptions first, then to callers. */
  settle(reply: Extract<Reply, { kind: "appended" | "failed" }>): void {
    const [batch] = this.#inFlight;
    // The last reply may arrive after the thread's death was noticed.
    if (batch?.message.batch !== reply.batch) return;
    this.#inFlight.shift();
    batch.deadline.cancel();
    this.#waitingBytes -= batch.bytes;
    if (reply.kind === "failed") this.#reject(batch, new LogUnavailable(`the log was not written: ${reply.reason}`));
    else this.#resolve(batch, reply.first, reply.exceptions);
    if (this.#urgent) this.#schedule();
    else if (this.#waiting.length === 0 && this.#inFlight.length === 0) this.#onIdle?.();
  }

  async idle(): Promise<void> {
    this.flush();
    if (this.#inFlight.length > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  fail(error: LogUnavailable): void {
    for (const batch of [...this.#waiting.splice(0), ...this.#inFlight.splice(0)]) {
      batch.deadline.cancel();
      this.#reject(batch, error);
    }
    this.#waitingBytes = 0;
    this.#sentAll();
    this.#onIdle?.();
  }

  #batchFor(bytes: number): Batch {
    const last = this.#waiting.at(-1);
    if (last && last.appends.length < this.#tuning.batchAppends && last.bytes + bytes <= batchBytesLimit) return last;
    const message: AppendBatch = {
      kind: "append", batch: ++this.#lastBatch, streams: [], expected: [], counts: [], texts: [],
    };
    const deadline = this.#clock.schedule(this.#tuning.timeoutMs, () => this.#late(batch));
    const batch: Batch = { message, appends: [], deadline, bytes: 0 };
    this.#waiting.push(batch);
    return batch;
  }

  #hold(): void {
    this.#holding ??= this.#clock.schedule(this.#tuning.holdMs, () => {
      this.#holding = null;
      if (this.#waiting.length > 0) this.#urge();
    });
  }

  #urge(): void {
    this.#urgent = true;
    this.#schedule();
  }

  /** Sends at the end of this turn, or after a pause that {@link enoughAppends} cut short. */
  #schedule(): void {
    if (this.#ending || this.#inFlight.length >= this.#tuning.batchesInFlight) return;
    const full = this.#waiting[0]!.appends.length >= enoughAppends;
    if (this.#pausing && !full) return;
    const pauseMs = full ? 0 : this.#delay.pause(this.#clock.monotonic());
    this.#pausing?.cancel();
    this.#pausing = null;
    this.#ending = pauseMs === 0;
    if (this.#ending) setImmediate(() => this.#sendWaiting());
    else this.#pausing = this.#clock.schedule(pauseMs, () => this.#sendWaiting());
  }

  #sendWaiting(): void {
    this.#ending = false;
    this.#pausing = null;
    while (this.#waiting.length > 0 && this.#inFlight.length < this.#tuning.batchesInFlight) this.#sendNext();
  }

  #sendNext(): void {
    const batch = this.#waiting.shift()!;
    this.#delay.sent(this.#clock.monotonic(), batch.appends.length);
    this.#inFlight.push(batch);
    if (this.#waiting.length === 0) this.#sentAll();
    this.#send(batch.message);
  }

  #sentAll(): void {
    this.#urgent = false;
    this.#holding?.cancel();
    this.#holding = null;
  }

  /** A batch that was sent may still be written; any other is withdrawn. */
  #late(batch: Batch): void {
    const at = this.#waiting.indexOf(batch);
    if (at < 0) {
      this.#reject(batch, new LogUnavailable("the log did not answer in time"));
      return;
    }
    this.#waiting.splice(at, 1);
    if (this.#waiting.length === 0) this.#sentAll();
    this.#waitingBytes -= batch.bytes;
    this.#reject(batch, new LogUnavailable("the log was not written: it did not answer earlier appends in time"));
  }

  #reject(batch: Batch, error: LogUnavailable): void {
    for (const { reject } of batch.appends) reject(error);
  }

  #resolve({ message, appends, bytes }: Batch, first: number, exceptions: readonly Exception[]): void {
    const { streams, expected, counts } = message;
    const results: (Appended | RevisionConflict | LogUnavailable)[] = [];
    const recorded: RecordedEvent[] = [];
    let sequence = first;
    let nextException = 0;
    for (let append = 0; append < appends.length; append++) {
      const stream = streams[append]!;
      const exception = exceptions[nextException]?.at === append ? exceptions[nextException++] : undefined;
      if (exception && "conflict" in exception) {
        results.push(new RevisionConflict(stream, expected[append]!, exception.conflict));
      } else if (exception && "failed" in exception) {
        results.push(new LogUnavailable(`the log was not written: ${exception.failed}`));
      } else if (exception && "repeated" in exception) {
        const { revision, sequence: earlier } = exception.repeated;
        results.push({ revision, position: positionOf(earlier) });
      } else {
        const revision = exception ? exception.revision : expected[append]! + counts[append]!;
        let next = revision - counts[append]! + 1;
        for (const { id, event, metadata } of appends[append]!.entries) {
          const position = positionOf(sequence++);
          recorded.push({ stream, revision: next++, position, id, type: event.type, data: event.data, metadata });
        }
        results.push({ revision, position: recorded.at(-1)!.position });
      }
    }
    if (recorded.length > 0) this.#onCommit({ after: first - 1, upTo: sequence - 1, entries: recorded, bytes });
    for (const [append, result] of results.entries()) {
      if (result instanceof Error) appends[append]!.reject(result);
      else appends[append]!.resolve(result);
    }
  }
}
