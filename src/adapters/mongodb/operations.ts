import type { AnyBulkWriteOperation, Document as Stored } from "mongodb";
import { countersOf, type CollectionDefinition, type FieldValue } from "../../ports/read-models.ts";
import type { Effect, Folded } from "../read-models/folded-changes.ts";
import { counterId } from "./counters.ts";
import { storable, storedName } from "./fields.ts";
import { countersName } from "./generation.ts";

/** A change of one stored document, as MongoDB's bulk writes take it. */
export type Operation = AnyBulkWriteOperation<Stored>;

/** The last write of a document, as the document carries it: the batch, and the epoch of the writer. */
export interface Mark {
  readonly batch: number;
  readonly epoch: number;
}

/**
 * A folded batch as operations by collection, at most one for each document; none affects a document that the same
 * batch or a later one has changed already. Throws a TypeError where the collections cannot hold it.
 */
export function operationsOf(
  definitions: ReadonlyMap<string, CollectionDefinition>,
  { documents, counters }: Folded,
  mark: Mark,
): ReadonlyMap<string, readonly Operation[]> {
  const operations = new Map<string, Operation[]>();
  for (const [name, effects] of documents) {
    const definition = definitions.get(name);
    if (!definition) throw new TypeError(`no collection ${name}`);
    operations.set(name, [...effects].flatMap(([key, effect]) => operationOf(definition, key, effect, mark) ?? []));
  }
  const totals = new Map<string, number>();
  for (const [scope, { rollUps, byBucket }] of counters) {
    for (const [bucket, by] of byBucket) {
      for (const counter of countersOf({ scope, bucket, rollUps })) {
        const id = counterId(counter.scope, counter.bucket);
        totals.set(id, (totals.get(id) ?? 0) + by);
      }
    }
  }
  operations.set(countersName, [...totals].flatMap(([id, by]) => (by === 0 ? [] : [addition(id, by, mark)])));
  return operations;
}

function operationOf(
  definition: CollectionDefinition,
  key: string,
  effect: Effect,
  mark: Mark,
): Operation | undefined {
  const filter = { _id: storable(definition, definition.key, key), ...unwritten(mark) } as Stored;
  switch (effect.op) {
    case "none":
      return undefined;
    case "remove":
      return { deleteOne: { filter } };
    case "set": {
      const raised = stored(definition, effect.raised);
      const update = {
        $set: { ...stored(definition, effect.fields), ...marks(mark) },
        // Null is less than anything to MongoDB, too.
        ...(Object.keys(raised).length > 0 && { $max: raised }),
      };
      return { updateOne: { filter, update } };
    }
    case "put": {
      const fields = Object.keys(definition.fields).filter((field) => field !== definition.key);
      const values = Object.fromEntries(fields.map((field) => [field, effect.document[field] ?? null]));
      const replacement = { ...stored(definition, values), ...marks(mark) };
      return effect.fresh
        ? { insertOne: { document: { ...replacement, _id: filter["_id"] as never } } }
        : { replaceOne: { filter, replacement, upsert: true } };
    }
  }
}

function addition(id: string, by: number, mark: Mark): Operation {
  const filter = { _id: id, ...unwritten(mark) } as Stored;
  return { updateOne: { filter, update: { $inc: { n: by }, $set: marks(mark) }, upsert: true } };
}

/** An operation without its insert, for when its document turned out to exist. */
export function withDocument(operation: Operation, mark: Mark): Operation {
  if ("insertOne" in operation) {
    const { _id: id, ...replacement } = operation.insertOne.document;
    return { replaceOne: { filter: { _id: id, ...unwritten(mark) } as Stored, replacement } };
  }
  if ("replaceOne" in operation) return { replaceOne: { ...operation.replaceOne, upsert: false } };
  if ("updateOne" in operation) return { updateOne: { ...operation.updateOne, upsert: false } };
  return operation;
}

function unwritten({ batch }: Mark): Stored {
  return { _b: { $lt: batch } };
}

function marks({ batch, epoch }: Mark): Stored {
  return { _b: batch, _e: epoch };
}

function stored(definition: CollectionDefinition, fields: Readonly<Record<string, FieldValue>>): Stored {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      storedName(definition, field),
      storable(definition, field, value),
    ]),
  );
}
