import { DatabaseSync } from "node:sqlite";
import pLimit from "p-limit";
import type { Clock } from "../../ports/clock/clock.ts";
import { logStart, type Position } from "../../ports/event-store.ts";
import {
  ReadModelsUnavailable,
  type Bucket,
  type Change,
  type CollectionDefinition,
  type Document,
  type FieldValue,
  type PositionedChanges,
  type Query,
  type ReadModels,
  type ReadModelWriter,
  type Selection,
} from "../../ports/read-models.ts";
import { fold } from "../read-models/folded-changes.ts";
import { Checkpoints } from "./checkpoints.ts";
import { schemaOf, tableOf } from "./columns.ts";
import { openDatabase, unavailable } from "./database.ts";
import { ReadAhead } from "./read-ahead.ts";
import { Scrubs } from "./scrubs.ts";
import { StoredReadModels } from "./stored-read-models.ts";
import { Waiters } from "./waiters.ts";
import { Writer } from "./writer.ts";

interface State {
  readonly checkpoint: Position;
  readonly fingerprint: string;
}

/**
 * Read models in one SQLite file, for the one thread that both writes and asks. A batch is written
 * in slices with room for queries between them; those read over a connection of their own, which sees
 * whole batches only. The file can be lost: the log has everything.
 */
export class SqliteReadModels implements ReadModels, ReadModelWriter {
  readonly #toWrite: DatabaseSync;
  readonly #toRead: DatabaseSync;
  readonly #readAhead: ReadAhead;
  readonly #checkpoints: Checkpoints;
  readonly #scrubs: Scrubs;
  readonly #waiters: Waiters;
  /** What questions are answered from. */
  #stored: StoredReadModels;
  #writer: Writer;
  #state: State | null = null;
  /** One write after the other: a transaction spans several turns of the event loop. */
  readonly #exclusively = pLimit(1);

  /** `file`: a path in a folder that exists. `onTrouble`: told why what was committed is not moved into it yet. */
  constructor(file: string, clock: Clock, onTrouble: (error: unknown) => void = () => undefined) {
    this.#toWrite = openDatabase(file);
    this.#toRead = new DatabaseSync(file, { readOnly: true });
    this.#readAhead = new ReadAhead(file);
    this.#checkpoints = new Checkpoints(file, this.#toWrite, onTrouble);
    this.#scrubs = new Scrubs(this.#toWrite, clock, () => this.scrub());
    this.#waiters = new Waiters(clock);
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.#toWrite, this.#stored.definitions.values());
    this.#readState();
  }

  /** Calls `listener` with each position somebody begins to wait for. */
  onWanted(listener: (position: Position) => void): void {
    this.#waiters.onWaiting = listener;
  }

  get(collection: string, key: string): Promise<Document | null> {
    return this.#stored.get(collection, key);
  }

  find(query: Query): Promise<readonly Document[]> {
    return this.#stored.find(query);
  }

  count(selection: Selection): Promise<number> {
    return this.#stored.count(selection);
  }

  distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    return this.#stored.distinct(selection, field, options);
  }

  sum(scope: string, from?: number, to?: number): Promise<number> {
    return this.#stored.sum(scope, from, to);
  }

  buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]> {
    return this.#stored.buckets(scope, from, to);
  }

  async checkpoint(): Promise<Position> {
    return this.#state?.checkpoint ?? logStart;
  }

  async standsAt(checkpoint: Position): Promise<boolean> {
    return checkpoint === (await this.checkpoint());
  }

  async isSettled(fingerprint: string): Promise<boolean> {
    return this.#state?.fingerprint === fingerprint;
  }

  async caughtUp(position: Position, timeoutMs: number): Promise<boolean> {
    return this.#waiters.wait(position, timeoutMs);
  }

  async state(): Promise<State | null> {
    return this.#state;
  }

  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    return this.#exclusively(async () => {
      await this.#transaction(async () => {
        for (const old of this.#stored.definitions.values()) this.#toWrite.exec(`DROP TABLE ${tableOf(old)}`);
        this.#toWrite.exec("DELETE FROM counters; DELETE FROM scopes;");
        for (const definition of definitions) for (const sql of schemaOf(definition)) this.#toWrite.exec(sql);
        this.#toWrite
          .prepare("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)")
          .run(logStart, fingerprint, JSON.stringify(definitions));
        this.#scrubs.noteReset();
      });
      this.#load();
      this.#scrubs.schedule();
    });
  }

  /** A reset replaces what there was at once. */
  async publish(): Promise<void> {}

  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    return this.#exclusively(async () => {
      await this.#transaction(async () => {
        // A batch whose success was not heard of comes again, so what counts is what is stored.
        const done = this.#storedState()?.checkpoint;
        if (done === undefined) throw new ReadModelsUnavailable("the read models are not built yet");
        const folded = fold(batch.filter(({ position }) => position > done));
        await this.#writer.write(folded);
        this.#scrubs.note(folded, this.#stored.definitions);
        if (checkpoint > done) this.#toWrite.prepare("UPDATE state SET checkpoint = ?").run(checkpoint);
      });
      this.#readState();
      this.#checkpoints.committed();
      this.#scrubs.schedule();
    });
  }

  amend(changes: readonly Change[]): Promise<void> {
    return this.#exclusively(async () => {
      if (!this.#state) throw new ReadModelsUnavailable("the read models are not built yet");
      await this.#transaction(async () => {
        const folded = fold([{ changes }]);
        await this.#writer.write(folded);
        this.#scrubs.note(folded, this.#stored.definitions);
      });
      this.#checkpoints.committed();
      this.#scrubs.schedule();
    });
  }

  /** Gets what was removed from personal collections out of the files; resolves when it is. */
  scrub(): Promise<void> {
    return this.#exclusively(async () => {
      await this.#transaction(() => this.#scrubs.rewrite(this.#stored.definitions));
      this.#load();
      this.#scrubs.empty();
    });
  }

  /** Once what is being written is written. Whoever still waits for a position is told false. */
  async close(): Promise<void> {
    this.#scrubs.close();
    await this.#exclusively(() => undefined);
    await Promise.all([this.#checkpoints.end(), this.#readAhead.close()]);
    this.#waiters.close();
    this.#stored.close();
    this.#toWrite.close();
    this.#checkpoints.close();
  }

  /** Call when tables were made anew. */
  #load(): void {
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.#toWrite, this.#stored.definitions.values());
    this.#readState();
  }

  #readState(): void {
    this.#state = this.#storedState();
    this.#waiters.reached(this.#state?.checkpoint ?? logStart);
  }

  #storedState(): State | null {
    const row = this.#toWrite.prepare("SELECT checkpoint, fingerprint FROM state").get();
    return row ? { checkpoint: String(row["checkpoint"]), fingerprint: String(row["fingerprint"]) } : null;
  }

  async #transaction(write: () => Promise<void>): Promise<void> {
    try {
      this.#toWrite.exec("BEGIN IMMEDIATE");
      await write();
      this.#toWrite.exec("COMMIT");
    } catch (error) {
      if (this.#toWrite.isTransaction) this.#toWrite.exec("ROLLBACK");
      this.#writer.forget();
      throw unavailable(error);
    }
  }
}
