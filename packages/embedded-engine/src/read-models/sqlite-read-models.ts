import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import pLimit from "p-limit";
import type { Clock } from "../../../../src/kernel/ports/clock.ts";
import { logStart, type Position } from "../../../../src/kernel/ports/event-store.ts";
import {
  ReadModelsUnavailable, type Bucket, type Change, type CollectionDefinition, type Document, type FieldValue,
  type PositionedChanges, type Query, type ReadModels, type ReadModelWriter, type Selection,
} from "../../../../src/kernel/ports/read-models.ts";
import { fold, type Folded } from "../../../../src/kernel/read-models/engine/folded-changes.ts";
import { Waiters } from "../../../../src/kernel/read-models/engine/waiters.ts";
import { remote, type MethodsOf, type Remote } from "../../../../src/kernel/threads/calls.ts";
import { schemaOf } from "./columns.ts";
import { isDamage, removeDatabase, unavailable } from "./database.ts";
import { OpenFile } from "./open-file.ts";
import { SecureErase } from "./secure-erase.ts";
import type { StoredReadModels } from "./stored-read-models.ts";

interface State {
  readonly checkpoint: Position;
  readonly fingerprint: string;
}

/** Read models in one SQLite file, for one thread. Batches are written in slices; queries see whole batches only. */
export class SqliteReadModels implements ReadModels, ReadModelWriter {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onAnomaly: (error: unknown) => void;
  readonly #waiters: Waiters;
  #wantedListener: (position: Position) => void = () => undefined;
  #damageListener: (error: unknown) => void = () => undefined;
  #isDamaged = false;
  /** Damage found before there was a listener. */
  readonly #seenAtOpening: unknown[] = [];
  #file: OpenFile | undefined;
  #secureErase: SecureErase;
  #state: State | null = null;
  /** One write at a time: a transaction spans several turns of the event loop. */
  readonly #exclusively = pLimit(1);
  /** One secure erase at a time: each takes many writes. */
  readonly #scrubbing = pLimit(1);

  /** `onAnomaly`: gets errors that keep commits out of the file, or removed data in it. */
  constructor(file: string, clock: Clock, onAnomaly: (error: unknown) => void = () => undefined) {
    this.#path = file;
    this.#clock = clock;
    this.#onAnomaly = onAnomaly;
    this.#waiters = new Waiters(clock);
    this.#file = this.#open();
    this.#secureErase = this.#secureEraseOf(this.#file);
    this.#readState(this.#file);
  }

  onWanted(listener: (position: Position) => void): void {
    this.#wantedListener = listener;
  }

  /** Calls `listener` about a damaged page. Until a {@link reset}, queries then fail: other answers may be wrong. */
  onDamage(listener: (error: unknown) => void): void {
    this.#damageListener = listener;
    for (const error of this.#seenAtOpening.splice(0)) listener(error);
  }

  get(collection: string, key: string): Promise<Document | null> {
    return this.#ask((stored) => stored.get(collection, key));
  }

  find(query: Query): Promise<readonly Document[]> {
    return this.#ask((stored) => stored.find(query));
  }

  keys(query: Query): Promise<readonly string[]> {
    return this.#ask((stored) => stored.keys(query));
  }

  count(selection: Selection): Promise<number> {
    return this.#ask((stored) => stored.count(selection));
  }

  distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    return this.#ask((stored) => stored.distinct(selection, field, options));
  }

  sum(scope: string, from?: number, to?: number): Promise<number> {
    return this.#ask((stored) => stored.sum(scope, from, to));
  }

  buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]> {
    return this.#ask((stored) => stored.buckets(scope, from, to));
  }

  async checkpoint(): Promise<Position> {
    return this.#checkpoint;
  }

  async standsAt(checkpoint: Position): Promise<boolean> {
    return checkpoint === this.#checkpoint;
  }

  async settle(fingerprint: string): Promise<boolean> {
    if (this.#state?.fingerprint !== fingerprint) return false;
    // The log may delete entries next, so a loss of power must not undo the read models up to here.
    await this.#write(() => this.#built().sync());
    return true;
  }

  async caughtUp(position: Position, timeoutMs: number): Promise<boolean> {
    if (position <= this.#checkpoint) return true;
    const reached = this.#waiters.wait(position, timeoutMs);
    this.#wantedListener(position);
    return reached;
  }

  async state(): Promise<State | null> {
    return this.#state;
  }

  /** Makes a new file: dropping a table reads it, which may fail on damage. */
  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    return this.#write(async () => {
      const file = await this.#madeAnew();
      await this.#transaction(file, async () => {
        for (const definition of definitions) for (const sql of schemaOf(definition)) file.toWrite.exec(sql);
        file.toWrite
          .prepare("INSERT INTO state VALUES (1, ?, ?, ?)")
          .run(logStart, fingerprint, JSON.stringify(definitions));
      });
      file.load();
      this.#readState(file);
    });
  }

  /** A reset has replaced the former collections already. */
  async publish(): Promise<void> {}

  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    return this.#change(async (file) => {
      // A batch is repeated if its success was not reported: only the stored checkpoint counts.
      const done = storedState(file)?.checkpoint ?? logStart;
      await this.#put(file, fold(batch.filter(({ position }) => position > done)));
      if (checkpoint > done) file.toWrite.prepare("UPDATE state SET checkpoint = ?").run(checkpoint);
    });
  }

  amend(changes: readonly Change[]): Promise<void> {
    return this.#change((file) => this.#put(file, fold([{ changes }])));
  }

  removeCounters(text: string): Promise<void> {
    return this.#change(async ({ writer }) => writer.removeCounters(text));
  }

  scrub(): Promise<void> {
    return this.#scrubbing(async () => {
      const scrubs = this.#secureErase;
      const steps = scrubs.rewrite(this.#built().stored.definitions);
      const inTurn = <Result>(step: (file: OpenFile) => Promise<Result>) => this.#write(() => {
        if (scrubs.closed) throw new ReadModelsUnavailable("the read models were closed, or built anew");
        return step(this.#built());
      });
      const next = () => inTurn((file) => this.#transaction(file, async () => steps.next()));
      for (let step = await next(); !step.done; step = await next()) await nextTurn();
      await inTurn(async () => scrubs.empty());
    });
  }

  /** Waits for pending writes. Callers that wait for a position get false. */
  async close(): Promise<void> {
    this.#secureErase.close();
    await this.#exclusively(() => undefined);
    this.#waiters.close();
    await this.#file?.close();
  }

  #secureEraseOf({ toWrite }: OpenFile): SecureErase {
    return new SecureErase(toWrite, this.#clock, () => this.scrub(), this.#onAnomaly);
  }

  async #madeAnew(): Promise<OpenFile> {
    this.#reached(null);
    this.#secureErase.close();
    const old = this.#file;
    this.#file = undefined;
    await old?.close();
    removeDatabase(this.#path);
    this.#file = this.#open();
    this.#secureErase = this.#secureEraseOf(this.#file);
    this.#isDamaged = false;
    return this.#file;
  }

  #open(): OpenFile {
    return new OpenFile(this.#path, this.#onAnomaly, (error) => this.#seenAtOpening.push(error));
  }

  #readState(file: OpenFile): void {
    this.#reached(storedState(file));
  }

  #reached(state: State | null): void {
    this.#state = this.#isDamaged ? null : state;
    this.#waiters.reached(this.#checkpoint);
  }

  get #checkpoint(): Position {
    return this.#state?.checkpoint ?? logStart;
  }

  #built(): OpenFile {
    if (!this.#file || !this.#state) throw new ReadModelsUnavailable("the read models are not built yet");
    return this.#file;
  }

  async #ask<Result>(question: (stored: StoredReadModels) => Promise<Result>): Promise<Result> {
    try {
      return await question(this.#built().stored);
    } catch (error) {
      this.#heed(error);
      throw error;
    }
  }

  #write<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.#exclusively(async () => {
      try {
        return await action();
      } catch (error) {
        this.#heed(error);
        throw unavailable(error);
      }
    });
  }

  /** Writes in one transaction, then starts a checkpoint and a secure erase if due. */
  #change(change: (file: OpenFile) => Promise<void>): Promise<void> {
    return this.#write(async () => {
      const file = this.#built();
      await this.#transaction(file, () => change(file));
      this.#readState(file);
      file.checkpoints.committed();
      this.#secureErase.schedule();
    });
  }

  async #put({ writer }: OpenFile, folded: Folded): Promise<void> {
    this.#secureErase.note(await writer.write(folded));
  }

  #heed(error: unknown): void {
    if (this.#isDamaged || !isDamage(error)) return;
    this.#isDamaged = true;
    this.#secureErase.close();
    this.#reached(null);
    this.#damageListener(error);
  }

  async #transaction<Result>({ toWrite, writer }: OpenFile, write: () => Promise<Result>): Promise<Result> {
    try {
      toWrite.exec("BEGIN IMMEDIATE");
      const result = await write();
      toWrite.exec("COMMIT");
      return result;
    } catch (error) {
      if (toWrite.isTransaction) toWrite.exec("ROLLBACK");
      writer.forget();
      throw error;
    }
  }
}

function storedState({ toWrite }: OpenFile): State | null {
  const row = toWrite.prepare("SELECT checkpoint, fingerprint FROM state").get();
  return row ? { checkpoint: String(row["checkpoint"]), fingerprint: String(row["fingerprint"]) } : null;
}

const questions: MethodsOf<ReadModels> = {
  get: true, find: true, keys: true, count: true, distinct: true, sum: true, buckets: true, checkpoint: true,
  standsAt: true, settle: true, caughtUp: true,
};

/** A client of the read models that another thread serves. */
export function remoteReadModels(port: MessagePort): Remote<ReadModels> {
  return remote(port, questions, (message) => new ReadModelsUnavailable(message));
}
