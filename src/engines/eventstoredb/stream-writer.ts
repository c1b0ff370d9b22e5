import { randomUUID } from "node:crypto";
import { type Clock, sleep } from "../../kernel/ports/clock.ts";
import type { EventCodec } from "../../kernel/ports/event-codec.ts";
import {
  LogUnavailable, noStream, RevisionConflict, type Appended, type NewEntry, type Position,
} from "../../kernel/ports/event-store.ts";
import type { AppendCalls } from "./append-calls.ts";
import { outcomeOf, type AppendOutcome } from "./append-outcome.ts";
import type { Connection } from "./connection.ts";
import { exceptionOf, unavailable } from "./failures.ts";
import type { OwnEntries } from "./own-entries.ts";
import { readRecords } from "./reading.ts";
import { fenceMessage, isFence, type StoredRecord } from "./records.ts";
import {
  messagesOf, appendRequest, deleteRequest, readStreamRequest, tombstoneRequest, type Message,
} from "./requests.ts";
import type { Tuning } from "./tuning.ts";

/** The longest wait for a revived stream to become readable; the server needs some 20 ms. */
const reappearingMs = 1_000;
const lookEveryMs = 2;

interface WriterContext {
  readonly connection: Connection;
  readonly calls: AppendCalls;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly tuning: Tuning;
  readonly own: OwnEntries;
  readonly onAppended: (position: Position) => void;
}

type DeletingCall = (
  client: Awaited<ReturnType<Connection["streams"]>>, ...call: [...ReturnType<Connection["callArguments"]>, Reply]
) => unknown;
type Reply = (error: Error | null) => void;

/** Appends and deletions by the port's rules, which are stricter than the server's. */
export class StreamWriter {
  readonly #context: WriterContext;
  readonly #underWay = new Map<string, Promise<Appended>>();

  constructor(context: WriterContext) {
    this.#context = context;
  }

  /** Throws RevisionConflict, UnacceptableEntry, or LogUnavailable after `appendMs`, with the outcome unknown. */
  async append(stream: string, expected: number, entries: readonly NewEntry[]): Promise<Appended> {
    const messages = messagesOf(this.#context.codec, stream, entries);
    // The server answers one of several identical appends at once, the others after two seconds.
    const key = [stream, expected, ...messages.map(({ id }) => id)].join("/");
    const identical = this.#underWay.get(key);
    if (identical) return identical;
    this.#context.own.add(stream, expected, entries, messages);
    const appending = this.#append(stream, expected, messages);
    this.#underWay.set(key, appending);
    try {
      return await appending;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #append(stream: string, expected: number, messages: readonly Message[]): Promise<Appended> {
    const until = this.#until();
    for (;;) {
      const outcome = await this.#send(stream, expected, messages, until);
      if (outcome.kind === "closed") throw new RevisionConflict(stream, expected, noStream);
      if (outcome.kind === "appended") {
        const { appended } = outcome;
        // Such a high revision without an expected stream means that a deleted stream began again.
        if (expected === noStream && appended.revision >= messages.length) await this.#reappeared(stream, until);
        this.#context.onAppended(appended.position);
        return appended;
      }
      const [last] = await this.#read(stream, 1, true, until);
      if (last && isFence(last)) await this.#softDelete(stream, last.revision, until);
      const actual = !last || isFence(last) ? noStream : last.revision;
      if (expected === noStream && actual !== noStream) {
        const committed = await this.#committedBefore(stream, messages, until);
        if (committed) return committed;
      }
      // The stream may have reached the expected revision meanwhile.
      if (actual !== expected) throw new RevisionConflict(stream, expected, actual);
    }
  }

  /** Throws RevisionConflict, or LogUnavailable after `appendMs`; a later call then completes the deletion. */
  async delete(stream: string, expected?: number): Promise<void> {
    const until = this.#until();
    const fence = fenceMessage(randomUUID());
    for (;;) {
      const [last] = await this.#read(stream, 1, true, until);
      if (!last) return;
      if (isFence(last)) {
        // Another deletion, running or interrupted.
        await this.#softDelete(stream, last.revision, until);
        return;
      }
      if (expected !== undefined && last.revision !== expected) {
        throw new RevisionConflict(stream, expected, last.revision);
      }
      const outcome = await this.#send(stream, last.revision, [fence], until);
      if (outcome.kind === "appended") {
        await this.#softDelete(stream, outcome.appended.revision, until);
        return;
      }
    }
  }

  /** Deletes a stream for good, deleted or not. Throws as {@link delete} does. */
  async close(stream: string, expected?: number): Promise<void> {
    const until = this.#until();
    for (let closed = false; !closed;) {
      const [last] = await this.#read(stream, 1, true, until);
      if (last && !isFence(last) && expected !== undefined && last.revision !== expected) {
        throw new RevisionConflict(stream, expected, last.revision);
      }
      // At the revision just read: an append in between must not be destroyed unseen.
      const request = tombstoneRequest(stream, last?.revision ?? noStream);
      closed = await this.#persist("delete", until, (leftMs) =>
        this.#delete(leftMs, (client, ...call) => client.tombstone(request, ...call)));
    }
  }

  /** Waits until a revived stream can be read, but not for long: it may have been deleted again. */
  async #reappeared(stream: string, until: number): Promise<void> {
    const { clock } = this.#context;
    const end = Math.min(until, clock.monotonic() + reappearingMs);
    while (clock.monotonic() < end) {
      if ((await this.#read(stream, 1, true, until)).length > 0) return;
      await sleep(clock, lookEveryMs);
    }
  }

  /** The server looks for repeated ids from revision 0 on, but a revived stream begins later. */
  async #committedBefore(stream: string, messages: readonly Message[], until: number): Promise<Appended | undefined> {
    const first = await this.#read(stream, messages.length, false, until);
    const last = first.at(-1);
    if (!last || !messages.every(({ id }, at) => first[at]?.id === id)) return undefined;
    return { revision: last.revision, position: last.position };
  }

  /** Throws a refusal's error, and LogUnavailable if the outcome stays unknown. */
  async #send(
    stream: string, expected: number, messages: readonly Message[], until: number,
  ): Promise<Exclude<AppendOutcome, { kind: "refused" }>> {
    const correlation = randomUUID();
    const request = appendRequest(correlation, stream, expected, messages);
    const outcome = outcomeOf(await this.#context.calls.send(correlation, request, this.#left(until)));
    if (outcome.kind === "refused") throw outcome.error;
    return outcome;
  }

  /** Deletes the entries up to a fence, unless the stream was revived. */
  async #softDelete(stream: string, fenceRevision: number, until: number): Promise<void> {
    await this.#persist("delete", until, (leftMs) =>
      this.#delete(leftMs, (client, ...call) => client.delete(deleteRequest(stream, fenceRevision), ...call)));
  }

  /** Makes a call that deletes a stream; false where the stream is at another revision. */
  async #delete(leftMs: number, call: DeletingCall): Promise<boolean> {
    const { connection } = this.#context;
    const client = await connection.streams(leftMs);
    try {
      await new Promise<void>((resolve, reject) => {
        call(client, ...connection.callArguments(leftMs), (error) => {
          if (error) return reject(error);
          connection.answered();
          resolve();
        });
      });
      return true;
    } catch (error) {
      const exception = exceptionOf(error);
      if (exception === "stream-deleted") return true;
      if (exception === "wrong-expected-version") return false;
      await connection.failed(client, error);
      throw error;
    }
  }

  async #read(stream: string, limit: number, backwards: boolean, until: number): Promise<StoredRecord[]> {
    return this.#persist("read", until, (leftMs) => readRecords(
      this.#context.connection, readStreamRequest(stream, { limit, backwards }), leftMs,
    ));
  }

  async #persist<Result>(
    doing: string, until: number, attempt: (leftMs: number) => Promise<Result>,
  ): Promise<Result> {
    const { clock, tuning } = this.#context;
    for (let pauseMs = tuning.firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, tuning.longestPauseMs)) {
      try {
        return await attempt(Math.min(this.#left(until), tuning.stallMs));
      } catch (error) {
        if (clock.monotonic() + pauseMs >= until) throw unavailable(doing, error);
        await sleep(clock, pauseMs);
      }
    }
  }

  #until(): number {
    return this.#context.clock.monotonic() + this.#context.tuning.appendMs;
  }

  #left(until: number): number {
    const leftMs = until - this.#context.clock.monotonic();
    if (leftMs <= 0) throw new LogUnavailable("EventStoreDB did not answer in time");
    return leftMs;
  }
}
