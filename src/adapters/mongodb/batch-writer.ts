import { MongoBulkWriteError, type Document as Stored, type WriteError } from "mongodb";
import { ReadModelsTakenOver, ReadModelsUnavailable, type CollectionDefinition } from "../../ports/read-models.ts";
import type { Folded } from "../read-models/folded-changes.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { storedIn } from "./generation.ts";
import { operationsOf, withDocument, type Mark, type Operation } from "./operations.ts";
import { duplicateKey } from "./upsert.ts";

/** Operations sent at once. */
const slice = 500;

const documentInvalid = 121;

/** Writes folded batches. Writing one again changes nothing. */
export class BatchWriter {
  readonly #connection: MongoConnection;
  readonly #generation: number;
  readonly #definitions: ReadonlyMap<string, CollectionDefinition>;

  constructor(
    connection: MongoConnection,
    generation: number,
    definitions: ReadonlyMap<string, CollectionDefinition>,
  ) {
    this.#connection = connection;
    this.#generation = generation;
    this.#definitions = definitions;
  }

  /** A folded batch, ready to be written. Throws a TypeError where the collections cannot hold it. */
  prepare(folded: Folded, mark: Mark): () => Promise<void> {
    const operations = operationsOf(this.#definitions, folded, mark);
    return async () => {
      await Promise.all([...operations].map(([name, ofCollection]) => this.#write(name, ofCollection, mark)));
    };
  }

  async #write(name: string, operations: readonly Operation[], mark: Mark): Promise<void> {
    for (let at = 0; at < operations.length; at += slice) {
      const some = operations.slice(at, at + slice);
      const there = (await this.#bulk(name, some)).map((index) => withDocument(some[index]!, mark));
      if (there.length > 0) await this.#bulk(name, there);
    }
  }

  /** The indexes of the operations whose document was there although no unwritten one was found. */
  #bulk(name: string, operations: readonly Operation[]): Promise<number[]> {
    const collection = this.#connection.db.collection<Stored>(storedIn(this.#generation, name));
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, async (signal) => {
      try {
        await collection.bulkWrite(operations, { ordered: false, signal });
        return [];
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError)) throw error;
        const errors = ([] as WriteError[]).concat(error.writeErrors);
        if (errors.some(({ code }) => code === documentInvalid)) throw takenOver(error);
        const isExpected = errors.length > 0 && errors.every(({ code }) => code === duplicateKey);
        if (!isExpected || error.result.getWriteConcernError()) throw error;
        return errors.map(({ index }) => index);
      }
    });
  }
}

/** Another writer has begun since this one did. */
export function takenOver(cause?: unknown): ReadModelsTakenOver {
  return new ReadModelsTakenOver("another writer of the read models has taken over", { cause });
}
