import type { Timer } from "../../kernel/ports/clock.ts";
import { ReadModelsUnavailable } from "../../kernel/ports/read-models.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { definitionsOf, generationOf, stateId, states } from "./generation.ts";

/** Unfinished batches of version 0.2: its read models are rebuilt. */
const intentsOfVersion02 = "intents";

/** Drops generations neither current nor being built. A replaced one stays for a while, for running queries. */
export class ObsoleteGenerations {
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
