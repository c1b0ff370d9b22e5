import { setImmediate } from "node:timers/promises";
import { type Clock, Pause } from "../../../../src/kernel/ports/clock.ts";
import {
  isWanted, type BatchHandler, type LogEntry, type RecordedEvent, type Subscription, type Wanted,
} from "../../../../src/kernel/ports/event-store.ts";
import type { Stretch } from "./log-reader.ts";
import { positionOf, type Sequence } from "./positions.ts";

const readEntries = 1024;
/** Buffered for a busy subscription, unwanted entries included. */
const bufferBytes = 16 * 1024 * 1024;
const firstPauseMs = 50;
const longestPauseMs = 5000;

/** The parts of a client that its subscriptions use. */
export interface LogSource {
  readonly clock: Clock;
  head(): Sequence;
  /** Like LogReader, up to the last committed sequence. Throws LogUnavailable. */
  read(after: Sequence, limit: number, wanted: Wanted): Stretch;
  /** Asks for {@link LogSubscription.wake} at the next commit of others. */
  arm(): void;
  onAnomaly(error: unknown): void;
}

/** A commit of this client: the whole log after `after` up to `upTo`. */
export interface OwnCommit {
  readonly after: Sequence;
  readonly upTo: Sequence;
  readonly entries: readonly RecordedEvent[];
  readonly bytes: number;
}

/** Follows the log. At its end, own commits come from memory; otherwise it reads the log. */
export class LogSubscription implements Subscription {
  readonly #source: LogSource;
  readonly #wanted: Wanted;
  readonly #handle: BatchHandler;
  readonly #bufferEntries: number;
  readonly #pause: Pause;
  /** All entries up to here are handled. */
  #handled: Sequence;
  /** While live: all entries up to here are handled, being handled or buffered. */
  #covered: Sequence;
  #live = false;
  #buffer: LogEntry[] = [];
  #bufferedBytes = 0;
  #busy = false;
  #stopped = false;
  #ended: Promise<void>;

  constructor(
    source: LogSource,
    after: Sequence,
    wanted: Wanted,
    handle: BatchHandler,
    bufferEntries: number,
  ) {
    this.#source = source;
    this.#pause = new Pause(source.clock);
    this.#wanted = wanted;
    this.#handle = handle;
    this.#bufferEntries = bufferEntries;
    this.#handled = this.#covered = after;
    this.#ended = this.#work();
  }

  offer(commit: OwnCommit): void {
    if (!this.#live || this.#stopped || commit.upTo <= this.#covered) return;
    const wanted = commit.entries.filter((entry) => isWanted(entry, this.#wanted));
    if (commit.after !== this.#covered || (this.#busy && !this.#hasRoomFor(wanted.length, commit.bytes))) {
      this.#fallBehind();
    } else if (this.#busy) {
      for (const entry of wanted) this.#buffer.push(entry);
      this.#bufferedBytes += commit.bytes;
      this.#covered = commit.upTo;
    } else {
      this.#covered = commit.upTo;
      this.#busy = true;
      const stretch = { entries: wanted, upTo: commit.upTo };
      const handling = this.#call(stretch);
      if (handling === null) this.#busy = false;
      else this.#ended = this.#work({ stretch, handling });
    }
  }

  /** Others may have written; compares with the head, since their entries may be read already. */
  wake(): void {
    if (!this.#live) return;
    this.#source.arm();
    if (this.#source.head() > this.#covered) this.#fallBehind();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    await this.#ended;
  }

  #hasRoomFor(entries: number, bytes: number): boolean {
    return this.#buffer.length + entries <= this.#bufferEntries && this.#bufferedBytes + bytes <= bufferBytes;
  }

  #fallBehind(): void {
    this.#live = false;
    this.#takeBuffer();
    if (!this.#busy && !this.#stopped) this.#ended = this.#work();
  }

  /** Handles batches until none is left; the handler was already called for `started`. */
  async #work(started?: { readonly stretch: Stretch; readonly handling: Promise<void> }): Promise<void> {
    this.#busy = true;
    if (started) await this.#finish(started.stretch, started.handling);
    while (!this.#stopped) {
      const stretch = await this.#next();
      if (!stretch) break;
      await this.#finish(stretch, this.#call(stretch));
    }
    this.#busy = false;
  }

  /** The next batch; undefined once live and up to date. */
  async #next(): Promise<Stretch | undefined> {
    for (let failures = 0; !this.#stopped;) {
      if (this.#live) {
        if (this.#covered === this.#handled) return undefined;
        return { entries: this.#takeBuffer(), upTo: this.#covered };
      }
      try {
        // Reads and decoding block the thread: let other tasks run between them.
        await setImmediate();
        const stretch = this.#source.read(this.#handled, readEntries, this.#wanted);
        if (stretch.upTo > this.#handled) return stretch;
        this.#covered = this.#handled;
        this.#live = true;
        this.#source.arm();
        if (this.#source.head() > this.#covered) this.#live = false;
      } catch (error) {
        this.#source.onAnomaly(error);
        await this.#rest(failures++);
      }
    }
    return undefined;
  }

  #takeBuffer(): LogEntry[] {
    const taken = this.#buffer;
    this.#buffer = [];
    this.#bufferedBytes = 0;
    return taken;
  }

  /** Null if the handler is done synchronously. */
  #call({ entries, upTo }: Stretch): Promise<void> | null {
    try {
      const handling = this.#handle(entries, positionOf(upTo));
      if (handling instanceof Promise) return handling;
      this.#handled = upTo;
      return null;
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #finish(stretch: Stretch, handling: Promise<void> | null): Promise<void> {
    for (let failures = 0; ;) {
      try {
        await handling;
        this.#handled = stretch.upTo;
        return;
      } catch (error) {
        this.#source.onAnomaly(error);
        await this.#rest(failures++);
        if (this.#stopped) return;
        handling = this.#call(stretch);
      }
    }
  }

  async #rest(failures: number): Promise<void> {
    if (!this.#stopped) await this.#pause.wait(Math.min(firstPauseMs * 2 ** failures, longestPauseMs));
  }
}
