import type { AnyBulkWriteOperation, Document as Stored } from "mongodb";
import type { Position } from "../../kernel/ports/event-store.ts";
import {
  countersOf, type CollectionDefinition, type FieldValue, type Change, type PositionedChanges,
} from "../../kernel/ports/read-models.ts";
import type { Effect, Folded } from "../../kernel/read-models/engine/folded-changes.ts";
import { counterId, storable, storedName } from "./fields.ts";
import { countersName } from "./generation.ts";

/** A change of one document for a bulk write. */
export type Operation = AnyBulkWriteOperation<Stored>;

/** At most one operation per document. Throws a TypeError for values that do not fit. */
export function operationsOf(
  definitions: ReadonlyMap<string, CollectionDefinition>,
  { documents, counters }: Folded,
): ReadonlyMap<string, readonly Operation[]> {
  const operations = new Map<string, Operation[]>();
  for (const [name, effects] of documents) {
    const definition = definitions.get(name);
    if (!definition) throw new TypeError(`no collection ${name}`);
    operations.set(name, [...effects].flatMap(([key, effect]) => operationOf(definition, key, effect) ?? []));
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
  operations.set(countersName, [...totals].flatMap(([id, by]) => (by === 0 ? [] : [addition(id, by)])));
  return operations;
}

function operationOf(definition: CollectionDefinition, key: string, effect: Effect): Operation | undefined {
  const filter = { _id: storable(definition, definition.key, key) } as Stored;
  switch (effect.op) {
    case "none":
      return undefined;
    case "remove":
      return { deleteOne: { filter } };
    case "set": {
      const raised = stored(definition, effect.raised);
      const fields = stored(definition, effect.fields);
      // MongoDB orders null first, too.
      const update = { ...given("$set", fields), ...given("$max", raised) };
      return Object.keys(update).length > 0 ? { updateOne: { filter, update } } : undefined;
    }
    case "tally": {
      const { field, document, sums, peaks } = effect;
      const within = (numbers: Readonly<Record<string, number>>) =>
        Object.fromEntries(Object.entries(numbers).map(([name, number]) => [`${field}.${name}`, number]));
      const [added, raised] = [within(sums), within(peaks)];
      const isEmpty = Object.keys(added).length + Object.keys(raised).length === 0;
      // Without a number, no other operator creates the field.
      const { _id: _, ...begun } = stored(definition, isEmpty ? { ...document, [field]: {} } : document);
      const update = { ...given("$inc", added), ...given("$max", raised), ...given("$setOnInsert", begun) };
      return { updateOne: { filter, update, upsert: true } };
    }
    case "put": {
      const fields = Object.keys(definition.fields).filter((field) => field !== definition.key);
      const values = Object.fromEntries(fields.map((field) => [field, effect.document[field] ?? null]));
      const replacement = stored(definition, values);
      return effect.fresh
        ? { insertOne: { document: { ...replacement, _id: filter["_id"] as never } } }
        : { replaceOne: { filter, replacement, upsert: true } };
    }
  }
}

function given(operator: string, fields: Stored): Stored {
  return Object.keys(fields).length > 0 ? { [operator]: fields } : {};
}

function addition(id: string, by: number): Operation {
  return { updateOne: { filter: { _id: id } as Stored, update: { $inc: { n: by } }, upsert: true } };
}

/** The same operation if a document said to be fresh may exist. */
export function withoutInsert(operation: Operation): Operation {
  if (!("insertOne" in operation)) return operation;
  const { _id: id, ...replacement } = operation.insertOne.document;
  return { replaceOne: { filter: { _id: id } as Stored, replacement, upsert: true } };
}

function stored(definition: CollectionDefinition, fields: Readonly<Record<string, FieldValue>>): Stored {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      storedName(definition, field),
      storable(definition, field, value),
    ]),
  );
}

/** Of a portion: documents and counters, and characters of new values. A larger entry is a portion by itself. */
const most = { keys: 1_000, characters: 4 * 1024 * 1024 };

interface Portion {
  readonly entries: readonly PositionedChanges[];
  readonly upTo: Position;
}

/** Cuts a large batch between entries of the log; the last portion may be empty. */
export function* portionsOf(batch: readonly PositionedChanges[], checkpoint: Position): Generator<Portion, void> {
  let entries: PositionedChanges[] = [];
  let keys = new Set<string>();
  let characters = 0;
  for (const entry of batch) {
    const own = entry.changes.flatMap(keysOf);
    const length = entry.changes.reduce((sum, change) => sum + lengthOf(change), 0);
    const more = new Set(own.filter((key) => !keys.has(key)));
    const last = entries.at(-1);
    if (last && (keys.size + more.size > most.keys || characters + length > most.characters)) {
      yield { entries, upTo: last.position };
      [entries, keys, characters] = [[], new Set(), 0];
    }
    entries.push(entry);
    for (const key of own) keys.add(key);
    characters += length;
  }
  yield { entries, upTo: checkpoint };
}

function keysOf(change: Change): readonly string[] {
  switch (change.op) {
    case "add":
      return [`${change.scope}\n${change.bucket}`];
    case "tally":
      return change.rows.map(({ key }) => `${change.collection}\n${key}`);
    default:
      return [`${change.collection}\n${change.key}`];
  }
}

function lengthOf(change: Change): number {
  if (change.op === "add" || change.op === "remove" || change.op === "tally") return 0;
  let length = 0;
  for (const value of Object.values(change.op === "put" ? change.document : change.fields)) {
    if (typeof value === "string") length += value.length;
    else if (typeof value === "object" && value !== null) length += JSON.stringify(value).length;
  }
  return length;
}
