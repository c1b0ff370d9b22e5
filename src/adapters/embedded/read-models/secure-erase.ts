import type { DatabaseSync } from "node:sqlite";
import type { Clock, Timer } from "../../../ports/clock/clock.ts";
import type { CollectionDefinition } from "../../../ports/read-models.ts";
import { emptyWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import { rewriting } from "./rewriting.ts";

const delayMs = 1_000;
/** A scrub takes the thread from queries; it may have so much of its time, at most. */
const share = 20;
/** Stands for the write-ahead log among the collections that are due: noted once a table was written anew. */
const logAlone = "";

/**
 * Gets what was removed from personal collections out of the files. SQLite zeroes what it deletes, but moving rows
 * between pages leaves copies in their gaps: so such a table is written anew, its old pages are zeroed whole, and
 * the write-ahead log is emptied. What is due is stored with the removal, so that no crash forgets it.
 */
export class SecureErase {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #onAnomaly: (error: unknown) => void;
  #timer: Timer | undefined;
  #due: boolean;
  #pauseMs = delayMs;
  /** How long the last run took the thread. */
  #spentMs = 0;
  /** The collections noted again since their tables began to be written anew. */
  readonly #notedSince = new Set<string>();
  #failed = false;
  #closed = false;

  /**
   * `run`: scrubs by {@link rewrite}, then {@link empty}. `onAnomaly`: told why it failed when it did so more than once
   * on end; for moments anything that reads is in the way.
   */
  constructor(
    database: DatabaseSync, clock: Clock, run: () => Promise<void>, onAnomaly: (error: unknown) => void,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#run = run;
    this.#onAnomaly = onAnomaly;
    this.#due = this.#isAnyDue();
    this.schedule();
  }

  /** Whether nothing more is scrubbed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Stores that these personal collections must be scrubbed; within the transaction that took something from them. */
  note(collections: Iterable<string>): void {
    for (const collection of collections) {
      this.#database.prepare("INSERT OR IGNORE INTO scrubs VALUES (?)").run(collection);
      this.#notedSince.add(collection);
      this.#due = true;
    }
  }

  /** Has what is due done in a while. Call after each commit; costs nothing where nothing is due. */
  schedule(): void {
    if (!this.#due || this.#timer || this.#closed) return;
    this.#timer = this.#clock.schedule(this.#pauseMs, () => {
      // What fails stays due, and a busy file is not for ever.
      void this.#tried().finally(() => {
        this.#pauseMs = Math.max(delayMs, share * this.#spentMs);
        this.#timer = undefined;
        this.schedule();
      });
    });
  }

  /** Writes the tables that are due anew, in steps as {@link rewriting} makes them. */
  *rewrite(definitions: ReadonlyMap<string, CollectionDefinition>): Generator<void, void> {
    this.#spentMs = 0;
    for (const { collection } of this.#database.prepare("SELECT collection FROM scrubs").all()) {
      const definition = definitions.get(String(collection));
      if (!definition) continue;
      this.#notedSince.delete(definition.name);
      yield* this.#timed(rewriting(this.#database, definition));
      // What is committed is not done again when the log cannot be emptied yet.
      if (!this.#notedSince.has(definition.name)) {
        this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(definition.name);
      }
      this.note([logAlone]);
      yield;
    }
  }

  /** Empties the write-ahead log; then nothing is due but what came meanwhile. Throws while a reader is in the way. */
  empty(): void {
    const file = this.#database.location() ?? "";
    if (!emptyWriteAheadLog(this.#database, file)) throw new Error("a reader is in the way");
    this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(logAlone);
    this.#due = this.#isAnyDue();
  }

  /** Nothing more is scrubbed; what is due is stored, and done by the next process. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #tried(): Promise<void> {
    try {
      await this.#run();
      this.#failed = false;
    } catch (error) {
      if (this.#failed && !this.#closed) this.#onAnomaly(error);
      this.#failed = true;
    }
  }

  *#timed(steps: Generator<void, void>): Generator<void, void> {
    for (;;) {
      const from = this.#clock.monotonic();
      const { done } = steps.next();
      this.#spentMs += this.#clock.monotonic() - from;
      if (done) return;
      yield;
    }
  }

  #isAnyDue(): boolean {
    return this.#database.prepare("SELECT 1 FROM scrubs LIMIT 1").get() !== undefined;
  }
}
