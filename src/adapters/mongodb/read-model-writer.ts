import { type Filter, type UpdateFilter } from "mongodb";
import { logStart, type Position } from "../../ports/event-store.ts";
import { fold, type Folded } from "../../ports/folded-changes.ts";
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
import { BatchWriter, takenOver } from "./batch-writer.ts";
import { patience, type MongoConnection } from "./connection.ts";
import {
  countersName, definitionsOf, loadDefinitions, stateId, states, storedIn, type Generation, type Pending, type State,
} from "./generation.ts";
import { Intents } from "./intents.ts";
import { Leftovers } from "./leftovers.ts";
import { Questions } from "./questions.ts";
import { createCollections, fence } from "./schema.ts";

/** After so many batches the counters at nothing are taken away. */
const sweepEvery = 50;
const duplicateKey = 11_000;

/** What a writer works on, and by what right. */
interface Held {
  readonly epoch: number;
  readonly slot: "current" | "building";
  readonly generation: Generation;
  readonly definitions: readonly CollectionDefinition[];
  readonly writer: BatchWriter;
  readonly questions: Questions;
}

/**
 * Writes read models so that no batch is ever applied in part, without transactions: what a batch comes to is stored
 * first, then written document by document, then the checkpoint. Whatever breaks off is carried to its end by the
 * writer's next call, or by the next writer, before anything else. A writer that takes over shuts those before it out.
 */
export class MongoReadModelWriter implements ReadModelWriter, Pick<ReadModels, "find" | "get"> {
  readonly #connection: MongoConnection;
  readonly #intents: Intents;
  readonly #leftovers: Leftovers;
  /** Null before anything was built; undefined while it is not known what holds. */
  #held: Held | null | undefined;
  #epoch: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** `dropAfterMs`: how long the collections of a generation that answers no more are kept for questions under way. */
  constructor(connection: MongoConnection, { dropAfterMs = 60_000 }: { readonly dropAfterMs?: number } = {}) {
    this.#connection = connection;
    this.#intents = new Intents(connection);
    this.#leftovers = new Leftovers(connection, dropAfterMs, (task) => this.#exclusively(task));
  }

  /** Takes over where another writer has meanwhile. */
  state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null> {
    return this.#exclusively(async () => {
      const held = await this.#ready().catch(async () => {
        this.#epoch = undefined;
        return this.#ready();
      });
      return held && { checkpoint: held.generation.checkpoint, fingerprint: held.generation.fingerprint };
    });
  }

  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    return this.#exclusively(async () => {
      await this.#ready();
      const epoch = this.#epoch!;
      const numbered = await this.#ask(() =>
        states(this.#connection).findOneAndUpdate(
          { _id: stateId, epoch },
          { $inc: { generations: 1 } },
          { returnDocument: "after" },
        ));
      if (!numbered) throw this.#lost();
      const number = numbered.generations;
      await this.#connection.reach(ReadModelsUnavailable, patience.schemaMs, async () => {
        await definitionsOf(this.#connection).insertOne({ _id: number, definitions: JSON.stringify(definitions) });
        await createCollections(this.#connection, number, definitions, epoch);
      });
      const generation = { number, fingerprint, checkpoint: logStart, batch: 0, pending: null };
      const slot = numbered.current ? "building" : "current";
      await this.#change({ epoch }, { $set: { [slot]: generation } });
      this.#held = this.#holding(epoch, slot, generation, definitions);
      this.#leftovers.look(epoch);
    });
  }

  publish(): Promise<void> {
    return this.#exclusively(async () => {
      const held = await this.#ready();
      if (held?.slot !== "building") return;
      const { epoch, generation, definitions } = held;
      await this.#change({ epoch, "building.number": generation.number }, {
        $set: { current: generation, building: null },
      });
      this.#held = this.#holding(epoch, "current", generation, definitions);
      this.#leftovers.look(epoch);
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

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await this.#turn;
    await this.#leftovers.close();
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
    await this.#finish({ ...held, generation: { ...generation, pending } });
  }

  /** Everything of the batch that is pending is written. */
  async #finish(held: Held): Promise<void> {
    const { epoch, slot, generation } = held;
    const pending = generation.pending!;
    const { batch, checkpoint } = pending;
    await this.#change({ epoch, [`${slot}.number`]: generation.number, [`${slot}.pending.batch`]: batch }, {
      $set: { [`${slot}.batch`]: batch, [`${slot}.checkpoint`]: checkpoint, [`${slot}.pending`]: null },
    });
    this.#held = { ...held, generation: { ...generation, batch, checkpoint, pending: null } };
    if (pending.parts > 0) await this.#intents.forget(pending);
    if (batch % sweepEvery === 0) await this.#sweep(generation.number, batch);
  }

  /** A counter at nothing is no different from one that never was; its mark is of no use once its batch is over. */
  async #sweep(generation: number, batch: number): Promise<void> {
    const counters = this.#connection.db.collection(storedIn(generation, countersName));
    await this.#ask(() => counters.deleteMany({ n: 0, _b: { $lte: batch } }));
  }

  /** What to work on, nothing of it pending. */
  async #ready(): Promise<Held | null> {
    if (this.#held !== undefined) return this.#held;
    const state = this.#epoch === undefined ? await this.#takeOver() : await this.#stored();
    const { epoch } = state;
    if (epoch !== this.#epoch) throw this.#lost();
    const slot = state.building ? "building" : "current";
    const generation = state[slot];
    if (generation) {
      const loaded = await loadDefinitions(this.#connection, generation.number);
      const held = this.#holding(epoch, slot, generation, [...loaded.values()]);
      if (generation.pending) await this.#carryOut(held, generation.pending);
      else this.#held = held;
    } else this.#held = null;
    return this.#held ?? null;
  }

  /** Writes again what a batch came to of which nobody knows how far it got. */
  async #carryOut(held: Held, pending: Pending): Promise<void> {
    const folded = await this.#intents.load(pending);
    await held.writer.prepare(folded, { batch: pending.batch, epoch: held.epoch })();
    await this.#finish(held);
  }

  async #takeOver(): Promise<State> {
    const first = { epoch: 0, generations: 0, current: null, building: null };
    const raised = await this.#ask(async () => {
      await states(this.#connection)
        .updateOne({ _id: stateId }, { $setOnInsert: first }, { upsert: true })
        .catch(unlessThere);
      return states(this.#connection).findOneAndUpdate(
        { _id: stateId },
        { $inc: { epoch: 1 } },
        { returnDocument: "after" },
      );
    });
    if (!raised) throw new ReadModelsUnavailable("the state of the read models is gone");
    const { epoch, current, building } = raised;
    const generations = [current, building].flatMap((generation) => generation?.number ?? []);
    await this.#connection.reach(ReadModelsUnavailable, patience.schemaMs, () =>
      fence(this.#connection, generations, epoch));
    const state = await this.#stored();
    // Only now may anything be written: one who took over meanwhile may have been let down by the fence just put up.
    if (state.epoch !== epoch) throw takenOver();
    this.#epoch = epoch;
    this.#leftovers.look(epoch);
    return state;
  }

  async #built(): Promise<Held> {
    const held = await this.#ready();
    if (!held) throw new ReadModelsUnavailable("the read models are not built yet");
    return held;
  }

  async #stored(): Promise<State> {
    const state = await this.#ask(() => states(this.#connection).findOne({ _id: stateId }));
    if (!state) throw new ReadModelsUnavailable("the state of the read models is gone");
    return state;
  }

  /** Changes the state if it is as expected. Otherwise another writer has taken over. */
  async #change(expected: Readonly<Record<string, unknown>>, update: UpdateFilter<State>): Promise<void> {
    this.#held = undefined;
    const filter = { _id: stateId, ...expected } as Filter<State>;
    const { matchedCount } = await this.#ask(() => states(this.#connection).updateOne(filter, update));
    if (matchedCount === 0) throw this.#lost();
  }

  #lost(): ReadModelsUnavailable {
    this.#held = undefined;
    return takenOver();
  }

  #holding(
    epoch: number,
    slot: Held["slot"],
    generation: Generation,
    definitions: readonly CollectionDefinition[],
  ): Held {
    const byName = new Map(definitions.map((definition) => [definition.name, definition]));
    return {
      epoch,
      slot,
      generation,
      definitions,
      writer: new BatchWriter(this.#connection, generation.number, byName),
      questions: new Questions(this.#connection, generation.number, byName),
    };
  }

  #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, question);
  }

  /** One thing is done at a time. */
  #exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

function unlessThere(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === duplicateKey) return undefined;
  throw error;
}
