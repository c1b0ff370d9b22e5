import type { Document as Stored, Filter, MatchKeysAndValues } from "mongodb";
import pLimit from "p-limit";
import type { Timer } from "../../kernel/ports/clock.ts";
import { logStart, type Position } from "../../kernel/ports/event-store.ts";
import {
  ReadModelsUnavailable, type Change, type CollectionDefinition, type Document, type PositionedChanges, type Query,
  type ReadModels, type ReadModelWriter,
} from "../../kernel/ports/read-models.ts";
import { fold } from "../../kernel/read-models/engine/folded-changes.ts";
import { createCollections } from "./collections.ts";
import { patience, type MongoConnection } from "./connection.ts";
import {
  countersName, definitionsOf, loadDefinitions, stateId, states, storedIn, generationOf, type Generation, type State,
} from "./generation.ts";
import { portionsOf, operationsOf, type Operation } from "./operations.ts";
import { Questions } from "./questions.ts";
import { unlessMade } from "./upsert.ts";
import { takenOver, WriterSession } from "./writer-session.ts";

/** Batches between deletions of counters at zero, which mean the same as none. */
const sweepEvery = 50;

interface Held {
  readonly session: WriterSession;
  readonly slot: "current" | "building";
  readonly generation: Generation;
  readonly definitions: ReadonlyMap<string, CollectionDefinition>;
  readonly questions: Questions;
}

/**
 * Writes each batch with its checkpoint in one transaction, a large one in several. A takeover locks the predecessor
 * out. After a failure a writer takes over from itself, since its last commands may still arrive.
 */
export class MongoReadModelWriter implements ReadModelWriter, Pick<ReadModels, "find" | "get"> {
  readonly #connection: MongoConnection;
  readonly #obsolete: ObsoleteGenerations;
  /** Null before the first build; undefined while the state is unknown, at the start and after a failure. */
  #held: Held | null | undefined;
  #session: WriterSession | undefined;
  /** This writer's possible names in the state; none if it may take over from any other. */
  #names: readonly string[] = [];
  readonly #exclusively = pLimit(1);

  /** `dropAfterMs`: how long a replaced generation stays for running queries. */
  constructor(connection: MongoConnection, { dropAfterMs = 60_000 }: { readonly dropAfterMs?: number } = {}) {
    this.#connection = connection;
    this.#obsolete = new ObsoleteGenerations(connection, dropAfterMs, (task) => this.#exclusively(task));
  }

  /** Takes over if another writer has taken over: the caller is about to write. */
  state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null> {
    return this.#exclusively(async () => {
      const state = await this.#find();
      if (!state || !this.#names.includes(state.writer)) [this.#names, this.#held] = [[], undefined];
      const held = await this.#ready();
      return held && { checkpoint: held.generation.checkpoint, fingerprint: held.generation.builtUnder };
    });
  }

  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    return this.#exclusively(async () => {
      await this.#ready();
      const session = this.#session!;
      this.#held = undefined;
      const numbered = await this.#ask((signal) =>
        states(this.#connection).findOneAndUpdate(
          { _id: stateId, writer: session.name },
          { $inc: { generations: 1 } },
          { returnDocument: "after", signal },
        ));
      if (!numbered) throw takenOver();
      const number = numbered.generations;
      await this.#connection.reach(ReadModelsUnavailable, patience.schemaMs, async () => {
        await definitionsOf(this.#connection).insertOne({ _id: number, definitions: JSON.stringify(definitions) });
        await createCollections(this.#connection, number, definitions);
      });
      const generation = { number, builtUnder: fingerprint, checkpoint: logStart, batch: 0 };
      const slot = numbered.current ? "building" : "current";
      await session.change({ $set: { [slot]: generation } });
      const byName = new Map(definitions.map((definition) => [definition.name, definition]));
      this.#held = this.#holding(slot, generation, byName);
      this.#obsolete.look(session.name);
    });
  }

  publish({ alone = false }: { readonly alone?: boolean } = {}): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#ready();
      if (held?.slot === "building") await this.#swap(held);
      if (alone && held) await this.#obsolete.drop(held.session.name);
    });
  }

  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    return this.#exclusively(async () => {
      const done = (await this.#built()).generation.checkpoint;
      const left = batch.filter(({ position }) => position > done);
      for (const { entries, upTo } of portionsOf(left, checkpoint > done ? checkpoint : done)) {
        const held = await this.#built();
        await this.#commit(held, operationsOf(held.definitions, fold(entries)), upTo);
      }
    });
  }

  amend(changes: readonly Change[]): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#built();
      const operations = operationsOf(held.definitions, fold([{ changes }]));
      await this.#commit(held, operations, held.generation.checkpoint);
    });
  }

  removeCounters(text: string): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#built();
      const filter = { _id: { $regex: text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") } } as Filter<Stored>;
      const operations = new Map([[countersName, [{ deleteMany: { filter } }]]]);
      await this.#commit(held, operations, held.generation.checkpoint);
    });
  }

  get(collection: string, key: string): Promise<Document | null> {
    return this.#exclusively(async () => (await this.#built()).questions.get(collection, key));
  }

  find(query: Query): Promise<readonly Document[]> {
    return this.#exclusively(async () => (await this.#built()).questions.find(query));
  }

  async #commit(
    held: Held, operations: ReadonlyMap<string, readonly Operation[]>, checkpoint: Position,
  ): Promise<void> {
    const { session, slot, generation } = held;
    const isEmpty = [...operations.values()].every(({ length }) => length === 0);
    if (isEmpty && checkpoint === generation.checkpoint) return;
    const batch = generation.batch + 1;
    const update = { $set: { [`${slot}.batch`]: batch, [`${slot}.checkpoint`]: checkpoint } };
    this.#held = undefined;
    await (isEmpty ? session.change(update) : session.transaction(update, generation.number, operations));
    if (batch % sweepEvery === 0) await this.#sweep(generation.number);
    this.#held = { ...held, generation: { ...generation, batch, checkpoint } };
  }

  async #swap(held: Held): Promise<void> {
    const { session, generation } = held;
    this.#held = undefined;
    await session.change({ $set: { current: generation, building: null } });
    this.#held = { ...held, slot: "current" };
    this.#obsolete.look(session.name);
  }

  async #sweep(generation: number): Promise<void> {
    const counters = this.#connection.db.collection(storedIn(generation, countersName));
    await this.#ask((signal) => counters.deleteMany({ n: 0 }, { signal }));
  }

  async #ready(): Promise<Held | null> {
    if (this.#held !== undefined) return this.#held;
    const state = await this.#takeOver();
    const slot = state.building ? "building" : "current";
    const generation = state[slot];
    const definitions = generation && (await loadDefinitions(this.#connection, generation.number));
    return (this.#held = definitions && this.#holding(slot, generation, definitions));
  }

  /** Takes over, unless another writer has taken over from this one. */
  async #takeOver(): Promise<State> {
    this.#session?.end();
    const found = (await this.#find()) ?? (await this.#begin());
    if (this.#names.length > 0 && !this.#names.includes(found.writer)) throw takenOver();
    await this.#endTransactionOf(found);
    const session = new WriterSession(this.#connection);
    this.#session = session;
    this.#names = [...this.#names, session.name];
    const state = await this.#ask((signal) =>
      states(this.#connection).findOneAndUpdate(
        { _id: stateId, writer: found.writer },
        { $set: { writer: session.name, session: session.id, ...without(found) }, $unset: { epoch: "" } },
        { returnDocument: "after", signal },
      ));
    if (!state) throw new ReadModelsUnavailable("another writer takes over at the same moment");
    this.#names = [session.name];
    this.#obsolete.look(session.name);
    return state;
  }

  /** An open transaction would keep its documents locked for a minute. */
  async #endTransactionOf({ session }: State): Promise<void> {
    if (!session) return;
    try {
      await this.#connection.reach(ReadModelsUnavailable, patience.questionMs, (signal) =>
        this.#connection.db.command({ killSessions: [{ id: session }] }, { signal }));
    } catch (error) {
      const text = "the former writer's session cannot be ended: its transaction may hold this one up for a minute";
      this.#connection.logger.warn({ err: error }, text);
    }
  }

  #find(): Promise<State | null> {
    return this.#ask((signal) => states(this.#connection).findOne({ _id: stateId }, { signal }));
  }

  async #begin(): Promise<State> {
    const state = { writer: "", session: null, generations: 0, current: null, building: null };
    const made = await this.#ask((signal) => unlessMade(() =>
      states(this.#connection).findOneAndUpdate(
        { _id: stateId }, { $setOnInsert: state }, { upsert: true, returnDocument: "after", signal })));
    return made!;
  }

  async #built(): Promise<Held> {
    const held = await this.#ready();
    if (!held) throw new ReadModelsUnavailable("the read models are not built yet");
    return held;
  }

  #holding(
    slot: Held["slot"], generation: Generation, definitions: ReadonlyMap<string, CollectionDefinition>,
  ): Held {
    const questions = new Questions(this.#connection, generation.number, definitions);
    return { session: this.#session!, slot, generation, definitions, questions };
  }

  #ask<Result>(question: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, question);
  }
}

/** Validators of version 0.2 may refuse later documents: its current generation only answers until the rebuild. */
function without({ epoch, current }: State): MatchKeysAndValues<State> {
  if (epoch === undefined) return {};
  return { building: null, ...(current && { "current.builtUnder": "" }) };
}

/** Unfinished batches of version 0.2: its read models are rebuilt. */
const intentsOfVersion02 = "intents";

/** Drops generations neither current nor being built. A replaced one stays for a while, for running queries. */
class ObsoleteGenerations {
  readonly #connection: MongoConnection;
  readonly #afterMs: number;
  readonly #exclusively: (task: () => Promise<void>) => Promise<void>;
  #timer: Timer | undefined;

  /** `exclusively`: runs a task while no generation is being created. */
  constructor(
    connection: MongoConnection,
    afterMs: number,
    exclusively: (task: () => Promise<void>) => Promise<void>,
  ) {
    this.#connection = connection;
    this.#afterMs = afterMs;
    this.#exclusively = exclusively;
  }

  /** Drops obsolete generations after a while. `writer`: the caller's name in the state. */
  look(writer: string): void {
    this.#timer?.cancel();
    this.#timer = this.#connection.clock.schedule(this.#afterMs, () => {
      this.#exclusively(() => this.drop(writer)).catch((error: unknown) => {
        this.#connection.logger.warn({ err: error }, "old read models are not dropped yet: that is tried again");
        this.look(writer);
      });
    });
  }

  async drop(writer: string): Promise<void> {
    const { db } = this.#connection;
    await this.#connection.reach(ReadModelsUnavailable, patience.writeMs, async (signal) => {
      const state = await states(this.#connection).findOne({ _id: stateId }, { signal });
      // After a takeover, the generations belong to the new writer.
      if (state?.writer !== writer) return;
      const kept = [state.current, state.building].flatMap((generation) => generation?.number ?? []);
      const isLeft = (number: number) => number <= state.generations && !kept.includes(number);
      const found = await db.listCollections({}, { nameOnly: true, signal }).toArray();
      for (const { name } of found) {
        const generation = generationOf(name);
        const goes = generation === undefined ? name === intentsOfVersion02 : isLeft(generation);
        if (goes) await db.dropCollection(name, { signal });
      }
      const leftDefinitions = { _id: { $lte: state.generations, $nin: kept } };
      await definitionsOf(this.#connection).deleteMany(leftDefinitions, { signal });
    });
  }
}
