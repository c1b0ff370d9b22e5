import { randomUUID } from "node:crypto";
import type { Filter, UpdateFilter } from "mongodb";
import pLimit from "p-limit";
import { logStart, type Position } from "../../ports/event-store.ts";
import {
  ReadModelsUnavailable,
  type Change,
  type CollectionDefinition,
  type Document,
  type PositionedChanges,
  type Query,
  type ReadModels,
  type ReadModelWriter,
} from "../../ports/read-models.ts";
import { fold, type Folded } from "../read-models/folded-changes.ts";
import { BatchWriter, takenOver } from "./batch-writer.ts";
import { patience, type MongoConnection } from "./connection.ts";
import {
  countersName, definitionsOf, loadDefinitions, stateId, states, storedIn, type Generation, type State,
} from "./generation.ts";
import { Intents } from "./intents.ts";
import { Leftovers } from "./leftovers.ts";
import { Questions } from "./questions.ts";
import { createCollections, fence } from "./schema.ts";
import { unlessMade } from "./upsert.ts";

/** After this many batches, counters at zero are deleted. */
const sweepEvery = 50;

/** What a writer works on, and its right to. */
interface Held {
  readonly epoch: number;
  readonly slot: "current" | "building";
  readonly generation: Generation;
  readonly writer: BatchWriter;
  readonly questions: Questions;
}

/**
 * Writes read models so that no batch is left applied in part, without transactions: a folded batch is stored first,
 * then written document by document, then the checkpoint. What is interrupted is finished by the writer's next call, or
 * by the next writer, before anything else. A writer that takes over locks out those before it.
 */
export class MongoReadModelWriter implements ReadModelWriter, Pick<ReadModels, "find" | "get"> {
  readonly #connection: MongoConnection;
  readonly #intents: Intents;
  readonly #leftovers: Leftovers;
  /** Null before anything was built; undefined while the state is unknown: before the start, after a failure. */
  #held: Held | null | undefined;
  /** Tells this writer from others. */
  readonly #id = randomUUID();
  /** The last one that this writer knows it began; undefined where another may have begun one since. */
  #epoch: number | undefined;
  /** One thing is done at a time. */
  readonly #exclusively = pLimit(1);

  /** `dropAfterMs`: how long the collections of a generation that answers no more are kept for questions under way. */
  constructor(connection: MongoConnection, { dropAfterMs = 60_000 }: { readonly dropAfterMs?: number } = {}) {
    this.#connection = connection;
    this.#intents = new Intents(connection);
    this.#leftovers = new Leftovers(connection, dropAfterMs, (task) => this.#exclusively(task));
  }

  /** The caller is about to write, so this takes over where another writer has meanwhile. */
  state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null> {
    return this.#exclusively(async () => {
      const state = await this.#ask((signal) => states(this.#connection).findOne({ _id: stateId }, { signal }));
      if (state?.writer !== this.#id) [this.#epoch, this.#held] = [undefined, undefined];
      const held = await this.#ready();
      return held && { checkpoint: held.generation.checkpoint, fingerprint: held.generation.fingerprint };
    });
  }

  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    return this.#exclusively(async () => {
      await this.#ready();
      const epoch = this.#epoch!;
      this.#held = undefined;
      const numbered = await this.#ask((signal) =>
        states(this.#connection).findOneAndUpdate(
          { _id: stateId, epoch },
          { $inc: { generations: 1 } },
          { returnDocument: "after", signal },
        ));
      if (!numbered) throw takenOver();
      const number = numbered.generations;
      await this.#connection.reach(ReadModelsUnavailable, patience.schemaMs, async () => {
        await definitionsOf(this.#connection).insertOne({ _id: number, definitions: JSON.stringify(definitions) });
        await createCollections(this.#connection, number, definitions, epoch);
      });
      const generation = { number, fingerprint, checkpoint: logStart, batch: 0, pending: null };
      const slot = numbered.current ? "building" : "current";
      await this.#change({ epoch }, { $set: { [slot]: generation } });
      const byName = new Map(definitions.map((definition) => [definition.name, definition]));
      this.#held = this.#holding(epoch, slot, generation, byName);
      this.#leftovers.look(epoch);
    });
  }

  publish({ alone = false }: { readonly alone?: boolean } = {}): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#ready();
      if (held?.slot === "building") await this.#swap(held);
      if (alone && held) await this.#leftovers.drop(held.epoch);
    });
  }

  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#built();
      const done = held.generation.checkpoint;
      const folded = fold(batch.filter(({ position }) => position > done));
      await this.#commit(held, folded, checkpoint > done ? checkpoint : done);
    });
  }

  amend(changes: readonly Change[]): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#built();
      await this.#commit(held, fold([{ changes }]), held.generation.checkpoint);
    });
  }

  /** The writer's own view: of what it works on. */
  get(collection: string, key: string): Promise<Document | null> {
    return this.#exclusively(async () => (await this.#built()).questions.get(collection, key));
  }

  /** The writer's own view: of what it works on. */
  find(query: Query): Promise<readonly Document[]> {
    return this.#exclusively(async () => (await this.#built()).questions.find(query));
  }

  async #commit(held: Held, folded: Folded, checkpoint: Position): Promise<void> {
    const { epoch, slot, generation, writer } = held;
    const batch = generation.batch + 1;
    const isEmpty = folded.documents.size === 0 && folded.counters.size === 0;
    if (isEmpty && checkpoint === generation.checkpoint) return;
    const write = writer.prepare(folded, { batch, epoch });
    this.#held = undefined;
    const unchanged = {
      epoch,
      [`${slot}.number`]: generation.number,
      [`${slot}.batch`]: generation.batch,
      [`${slot}.pending`]: null,
    };
    if (isEmpty) {
      await this.#change(unchanged, { $set: { [`${slot}.checkpoint`]: checkpoint } });
      this.#held = { ...held, generation: { ...generation, checkpoint } };
      return;
    }
    const pending = await this.#intents.store({ generation: generation.number, epoch, batch, checkpoint }, folded);
    await this.#change(unchanged, { $set: { [`${slot}.pending`]: pending } });
    await write();
    this.#held = await this.#finish({ ...held, generation: { ...generation, pending } });
  }

  /** Has the collections that were built answer from now on. */
  async #swap(held: Held): Promise<void> {
    const { epoch, generation } = held;
    this.#held = undefined;
    await this.#change({ epoch, "building.number": generation.number, "building.batch": generation.batch }, {
      $set: { current: generation, building: null },
    });
    this.#held = { ...held, slot: "current" };
    this.#leftovers.look(epoch);
  }

  /** Writes the rest of a pending batch. */
  async #finish(held: Held): Promise<Held> {
    const { epoch, slot, generation } = held;
    const pending = generation.pending!;
    const { batch, checkpoint } = pending;
    await this.#change({ epoch, [`${slot}.number`]: generation.number, [`${slot}.pending.batch`]: batch }, {
      $set: { [`${slot}.batch`]: batch, [`${slot}.checkpoint`]: checkpoint, [`${slot}.pending`]: null },
    });
    if (pending.parts > 0) await this.#intents.forget(pending);
    if (batch % sweepEvery === 0) await this.#sweep(generation.number, batch);
    return { ...held, generation: { ...generation, batch, checkpoint, pending: null } };
  }

  /** A counter at zero is no different from one that never was; its mark is useless once its batch is over. */
  async #sweep(generation: number, batch: number): Promise<void> {
    const counters = this.#connection.db.collection(storedIn(generation, countersName));
    await this.#ask((signal) => counters.deleteMany({ n: 0, _b: { $lte: batch } }, { signal }));
  }

  /** What to work on, nothing of it pending. */
  async #ready(): Promise<Held | null> {
    if (this.#held !== undefined) return this.#held;
    const state = await this.#takeOver();
    const { epoch } = state;
    const slot = state.building ? "building" : "current";
    const generation = state[slot];
    const held = generation && (await this.#load(epoch, slot, generation));
    // A write of ours still on its way may leave something: the next writer to take over deletes it.
    await this.#intents.forgetBefore(epoch);
    this.#held = held;
    return held;
  }

  async #load(epoch: number, slot: Held["slot"], generation: Generation): Promise<Held> {
    const definitions = await loadDefinitions(this.#connection, generation.number);
    const held = this.#holding(epoch, slot, generation, definitions);
    if (!generation.pending) return held;
    // It is unknown how far this got, so it is written again.
    const folded = await this.#intents.load(generation.pending);
    await held.writer.prepare(folded, { batch: generation.pending.batch, epoch })();
    return this.#finish(held);
  }

  /**
   * Begins an epoch, unless another writer has begun one since this one did. Needed after every failure: what this
   * writer sent, and no longer waits for, may still arrive, and must then change nothing.
   */
  async #takeOver(): Promise<State> {
    const isFirst = this.#epoch === undefined;
    const none = { generations: 0, current: null, building: null };
    const raised = await this.#ask(async (signal) => {
      if (isFirst) {
        const insert = { $setOnInsert: { epoch: 0, writer: "", ...none } };
        const options = { upsert: true, signal };
        await unlessMade(() => states(this.#connection).updateOne({ _id: stateId }, insert, options));
      }
      return states(this.#connection).findOneAndUpdate(
        { _id: stateId, ...(!isFirst && { writer: this.#id }) },
        { $inc: { epoch: 1 }, $set: { writer: this.#id } },
        { returnDocument: "after", signal },
      );
    });
    if (!raised) throw takenOver();
    this.#epoch = raised.epoch;
    const generations = [raised.current, raised.building].flatMap((generation) => generation?.number ?? []);
    await this.#ask((signal) => fence(this.#connection, generations, raised.epoch, signal));
    const state = await this.#ask((signal) => states(this.#connection).findOne({ _id: stateId }, { signal }));
    // Only now may anything be written: the fence just put up may have let somebody in whom a later one shut out.
    if (state?.epoch !== raised.epoch) throw takenOver();
    this.#leftovers.look(raised.epoch);
    return state;
  }

  async #built(): Promise<Held> {
    const held = await this.#ready();
    if (!held) throw new ReadModelsUnavailable("the read models are not built yet");
    return held;
  }

  /** Changes the state if it is as expected. Otherwise another writer has taken over. */
  async #change(expected: Readonly<Record<string, unknown>>, update: UpdateFilter<State>): Promise<void> {
    const filter = { _id: stateId, ...expected } as Filter<State>;
    const { matchedCount } = await this.#ask((signal) =>
      states(this.#connection).updateOne(filter, update, { signal }));
    if (matchedCount === 0) throw takenOver();
  }

  #holding(
    epoch: number,
    slot: Held["slot"],
    generation: Generation,
    definitions: ReadonlyMap<string, CollectionDefinition>,
  ): Held {
    return {
      epoch,
      slot,
      generation,
      writer: new BatchWriter(this.#connection, generation.number, definitions),
      questions: new Questions(this.#connection, generation.number, definitions),
    };
  }

  #ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, question);
  }
}
