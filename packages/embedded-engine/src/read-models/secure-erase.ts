import type { DatabaseSync } from "node:sqlite";
import type { Clock, Timer } from "../../../../src/kernel/ports/clock.ts";
import type { CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { emptyWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import { rewriting } from "./rewriting.ts";

const delayMs = 1_000;
/** A secure erase keeps queries waiting: the pause after it is this many times as long. */
const share = 20;
/** Stands for the write-ahead log among the due collections, after a table's rewrite. */
const logAlone = "";

/**
 * Erases removed personal data. SQLite zeroes deleted rows, but moved rows leave copies in the gaps of pages: so the
 * table is rewritten, old pages are zeroed, and the write-ahead log is emptied. Due collections are stored with the
 * removal.
 */
export class SecureErase {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #onAnomaly: (error: unknown) => void;
  #timer: Timer | undefined;
  #due: boolean;
  #pauseMs = delayMs;
  #spentMs = 0;
  readonly #notedSince = new Set<string>();
  #failed = false;
  #closed = false;

  /** `run`: calls {@link rewrite}, then {@link empty}. `onAnomaly`: from the second failure in a row on. */
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

  get closed(): boolean {
    return this.#closed;
  }

  /** Marks personal collections as due, within the transaction that removes their data. */
  note(collections: Iterable<string>): void {
    for (const collection of collections) {
      this.#database.prepare("INSERT OR IGNORE INTO scrubs VALUES (?)").run(collection);
      this.#notedSince.add(collection);
      this.#due = true;
    }
  }

  /** Call after each commit: schedules an erase of the due collections. */
  schedule(): void {
    if (!this.#due || this.#timer || this.#closed) return;
    this.#timer = this.#clock.schedule(this.#pauseMs, () => {
      // After a failure the collections stay due.
      void this.#tried().finally(() => {
        this.#pauseMs = Math.max(delayMs, share * this.#spentMs);
        this.#timer = undefined;
        this.schedule();
      });
    });
  }

  *rewrite(definitions: ReadonlyMap<string, CollectionDefinition>): Generator<void, void> {
    this.#spentMs = 0;
    for (const { collection } of this.#database.prepare("SELECT collection FROM scrubs").all()) {
      const definition = definitions.get(String(collection));
      if (!definition) continue;
      this.#notedSince.delete(definition.name);
      yield* this.#timed(rewriting(this.#database, definition));
      // A failure to empty the write-ahead log does not repeat a committed rewrite.
      if (!this.#notedSince.has(definition.name)) {
        this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(definition.name);
      }
      this.note([logAlone]);
      yield;
    }
  }

  /** Empties the write-ahead log; collections noted meanwhile stay due. Throws if a reader is in the way. */
  empty(): void {
    const file = this.#database.location() ?? "";
    if (!emptyWriteAheadLog(this.#database, file)) throw new Error("a reader is in the way");
    this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(logAlone);
    this.#due = this.#isAnyDue();
  }

  /** The next process erases the collections that are still due. */
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
