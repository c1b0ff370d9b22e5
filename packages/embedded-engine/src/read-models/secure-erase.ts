import type { DatabaseSync } from "node:sqlite";
import type { Clock, Timer } from "../../../../src/kernel/ports/clock/clock.ts";
import type { CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { emptyWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import { rewriting } from "./rewriting.ts";

const delayMs = 1_000;
/** A secure erase takes the thread from queries: the next one waits so many times as long as the last one took. */
const share = 20;
/** Stands for the write-ahead log among the due collections: noted once a table was rewritten. */
const logAlone = "";

/**
 * Erases from the files the data removed from personal collections. SQLite zeroes deleted rows, but moving rows between
 * pages leaves copies in the gaps. So the table is rewritten, its old pages are zeroed whole, and the write-ahead log
 * is emptied. Due collections are stored together with the removal, so that a crash does not lose them.
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
  /** The collections noted since the rewriting of their tables began. */
  readonly #notedSince = new Set<string>();
  #failed = false;
  #closed = false;

  /**
   * `run`: erases by {@link rewrite}, then {@link empty}. `onAnomaly`: gets the errors after the first of several
   * failures in a row; any reader is in the way for a moment.
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

  /** Whether nothing more is erased. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Stores that these personal collections are due; within the transaction that removed data from them. */
  note(collections: Iterable<string>): void {
    for (const collection of collections) {
      this.#database.prepare("INSERT OR IGNORE INTO scrubs VALUES (?)").run(collection);
      this.#notedSince.add(collection);
      this.#due = true;
    }
  }

  /** Schedules an erase of the due collections. Call after each commit; costs nothing where none is due. */
  schedule(): void {
    if (!this.#due || this.#timer || this.#closed) return;
    this.#timer = this.#clock.schedule(this.#pauseMs, () => {
      // After a failure the collections stay due, and no file is busy for ever.
      void this.#tried().finally(() => {
        this.#pauseMs = Math.max(delayMs, share * this.#spentMs);
        this.#timer = undefined;
        this.schedule();
      });
    });
  }

  /** Rewrites the due tables, in the steps of {@link rewriting}. */
  *rewrite(definitions: ReadonlyMap<string, CollectionDefinition>): Generator<void, void> {
    this.#spentMs = 0;
    for (const { collection } of this.#database.prepare("SELECT collection FROM scrubs").all()) {
      const definition = definitions.get(String(collection));
      if (!definition) continue;
      this.#notedSince.delete(definition.name);
      yield* this.#timed(rewriting(this.#database, definition));
      // A committed rewrite is not repeated when the write-ahead log cannot be emptied yet.
      if (!this.#notedSince.has(definition.name)) {
        this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(definition.name);
      }
      this.note([logAlone]);
      yield;
    }
  }

  /** Empties the write-ahead log; only collections noted meanwhile stay due. Throws while a reader is in the way. */
  empty(): void {
    const file = this.#database.location() ?? "";
    if (!emptyWriteAheadLog(this.#database, file)) throw new Error("a reader is in the way");
    this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(logAlone);
    this.#due = this.#isAnyDue();
  }

  /** Ends erasing; the due collections are stored, and the next process erases them. */
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
