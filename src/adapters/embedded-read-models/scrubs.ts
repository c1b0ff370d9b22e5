import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, Timer } from "../../ports/clock/clock.ts";
import type { CollectionDefinition } from "../../ports/read-models.ts";
import { orEndUnsynced } from "../file-system/failed-sync.ts";
import type { Effect, Folded } from "../read-models/folded-changes.ts";
import { schemaOf, tableOf } from "./columns.ts";

const delayMs = 1_000;
/** A scrub takes the thread from queries; it may have so much of its time, at most. */
const share = 20;
/** After so many rows put into a new table the thread turns to waiting queries. */
const slice = 200;
/** Due where the tables are written anew: no collection, but the write-ahead log. */
const logAlone = "";

/**
 * Gets what was removed from personal collections out of the files. SQLite zeroes what it deletes, but moving rows
 * between pages leaves copies in their gaps: so such a table is written anew, its old pages are zeroed whole, and
 * the write-ahead log is emptied. What is due is stored with the removal, so that no crash forgets it.
 */
export class Scrubs {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  #timer: Timer | undefined;
  #due: boolean;
  #pauseMs = delayMs;
  #startedAt = 0;
  #failed = false;
  #closed = false;

  /**
   * `run`: scrubs by calling {@link rewrite} in a transaction, then {@link empty}. `onTrouble`: told why it failed when
   * it did so more than once on end; for moments anything that reads is in the way.
   */
  constructor(
    database: DatabaseSync, clock: Clock, run: () => Promise<void>, onTrouble: (error: unknown) => void,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#run = run;
    this.#onTrouble = onTrouble;
    this.#due = database.prepare("SELECT 1 FROM scrubs LIMIT 1").get() !== undefined;
    this.schedule();
  }

  /** Stores which collections must be scrubbed after this batch; within its transaction. */
  note({ documents }: Folded, definitions: ReadonlyMap<string, CollectionDefinition>): void {
    for (const [collection, effects] of documents) {
      if (definitions.get(collection)?.personal && [...effects.values()].some(takesAway)) this.#note(collection);
    }
  }

  /** Has what is due done in a while. Call after each commit; costs nothing where nothing is due. */
  schedule(): void {
    if (!this.#due || this.#timer || this.#closed) return;
    this.#timer = this.#clock.schedule(this.#pauseMs, () => {
      this.#startedAt = this.#clock.monotonic();
      // What fails stays due, and a busy file is not for ever.
      void this.#tried().finally(() => {
        this.#pauseMs = Math.max(delayMs, share * (this.#clock.monotonic() - this.#startedAt));
        this.#timer = undefined;
        this.schedule();
      });
    });
  }

  /** Writes the tables that are due anew; queries see the old ones until this is committed. */
  async rewrite(definitions: ReadonlyMap<string, CollectionDefinition>): Promise<void> {
    this.#startedAt = this.#clock.monotonic();
    for (const { collection } of this.#database.prepare("SELECT collection FROM scrubs").all()) {
      const definition = definitions.get(String(collection));
      if (!definition) continue;
      const table = tableOf(definition);
      this.#database.exec(`CREATE TEMP TABLE rewritten AS SELECT * FROM main.${table}; DROP TABLE main.${table};`);
      for (const sql of schemaOf(definition)) this.#database.exec(sql);
      // Nearly all of the time goes into the new indexes. A failure takes back the whole transaction: OR FAIL spares
      // each slice a journal of its own, which would make it take twice as long.
      const putBack = this.#database.prepare(
        `INSERT OR FAIL INTO main.${table} SELECT * FROM temp.rewritten WHERE rowid BETWEEN ? AND ?`,
      );
      for (let row = 1; putBack.run(row, row + slice - 1).changes > 0; row += slice) await nextTurn();
      this.#database.exec("DROP TABLE temp.rewritten");
      // What is committed is not done again when the log cannot be emptied yet.
      this.#database.prepare("DELETE FROM scrubs WHERE collection = ?").run(definition.name);
      this.#note(logAlone);
    }
  }

  /** Empties the write-ahead log; then nothing is due any more. Throws while a reader is in the way. */
  empty(): void {
    const emptied = this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
    const file = this.#database.location() ?? "";
    if (orEndUnsynced(file, () => emptied.get())?.["busy"] !== 0) throw new Error("a reader is in the way");
    this.#database.exec("DELETE FROM scrubs");
    this.#due = false;
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
      if (this.#failed && !this.#closed) this.#onTrouble(error);
      this.#failed = true;
    }
  }

  #note(collection: string): void {
    this.#database.prepare("INSERT OR IGNORE INTO scrubs VALUES (?)").run(collection);
    this.#due = true;
  }
}

function takesAway(effect: Effect): boolean {
  return effect.op === "remove" || (effect.op === "set" && Object.values(effect.fields).includes(null));
}
