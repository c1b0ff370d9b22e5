import type { Collection, Document as Stored, Filter } from "mongodb";
import {
  ReadModelsUnavailable, type Bucket, type CollectionDefinition, type Document, type FieldRange, type FieldValue,
  type Query, type Selection,
} from "../../kernel/ports/read-models.ts";
import {
  highestBucket, lowestBucket, kindOf, unmatched, orderFieldOf, partsOf, type Part, type Beyond,
} from "../../kernel/read-models/engine/queries.ts";
import { indexFor } from "./collections.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { bucketOf, counterId, decode, decodeDocument, encode, storedName, type StoredValue } from "./fields.ts";
import { countersName, storedIn } from "./generation.ts";

/** Queries of one generation's collections. All throw ReadModelsUnavailable. */
export class Questions {
  readonly generation: number;
  readonly #connection: MongoConnection;
  readonly #definitions: ReadonlyMap<string, CollectionDefinition>;

  constructor(
    connection: MongoConnection,
    generation: number,
    definitions: ReadonlyMap<string, CollectionDefinition>,
  ) {
    this.generation = generation;
    this.#connection = connection;
    this.#definitions = definitions;
  }

  async get(collection: string, key: string): Promise<Document | null> {
    const definition = this.#definition(collection);
    const encoded = encode(kindOf(definition, definition.key), key);
    if (encoded === unmatched) return null;
    const found = await this.#ask((signal) =>
      this.#stored(definition).findOne({ _id: encoded } as Filter<Stored>, { signal }));
    return found && decodeDocument(definition, found);
  }

  /** One page, by the index of {@link indexFor} or of MongoDB's choice. */
  async find(query: Query): Promise<readonly Document[]> {
    const definition = this.#definition(query.collection);
    return (await this.#found(definition, query)).map((stored) => decodeDocument(definition, stored));
  }

  async keys(query: Query): Promise<readonly string[]> {
    const definition = this.#definition(query.collection);
    const kind = kindOf(definition, definition.key);
    return (await this.#found(definition, query, { _id: 1 })).map(({ _id: key }) => decode(kind, key) as string);
  }

  async count(selection: Selection): Promise<number> {
    const definition = this.#definition(selection.collection);
    const conditions = conditionsOf(definition, selection);
    if (!conditions) return 0;
    return this.#ask((signal) => this.#stored(definition).countDocuments(all(conditions), { signal }));
  }

  /** With a range open at one end, MongoDB would examine every document: each value is looked up within it instead. */
  async distinct(
    selection: Selection,
    field: string,
    { after, limit }: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    const definition = this.#definition(selection.collection);
    const { range, ...unranged } = selection;
    const isClosed = range?.from !== undefined && range.to !== undefined;
    const conditions = conditionsOf(definition, selection);
    const others = conditionsOf(definition, isClosed ? selection : unranged);
    const kind = kindOf(definition, field);
    const name = storedName(definition, field);
    let above = encode(kind, after ?? null);
    if (!conditions || !others || above === unmatched) return [];
    const found: unknown[] = [];
    for (;;) {
      const values = await this.#values(definition, others, name, above, limit);
      const selected = isClosed || !range ? values : await this.#among(definition, conditions, name, values);
      found.push(...selected);
      if (found.length >= limit || values.length < limit) break;
      above = values.at(-1) as typeof above;
    }
    return found.slice(0, limit).map((value) => decode(kind, value));
  }

  async sum(scope: string, from = lowestBucket, to = highestBucket): Promise<number> {
    const pipeline = [{ $match: bucketsWithin(scope, from, to) }, { $group: { _id: null, total: { $sum: "$n" } } }];
    const [sum] = await this.#ask((signal) => this.#counters().aggregate(pipeline, { signal }).toArray());
    return (sum?.["total"] as number | undefined) ?? 0;
  }

  /** The counters of {@link sum} in the order of their buckets, without zeros. */
  async buckets(scope: string, from = lowestBucket, to = highestBucket): Promise<Bucket[]> {
    const some = { ...bucketsWithin(scope, from, to), n: { $ne: 0 } };
    const found = await this.#ask((signal) => this.#counters().find(some, { signal }).sort({ _id: 1 }).toArray());
    return found.map(({ _id, n }) => ({ bucket: bucketOf(_id), total: n }));
  }

  async #found(
    definition: CollectionDefinition, query: Query, projection: Stored = {},
  ): Promise<readonly Stored[]> {
    const found: Stored[] = [];
    for (const part of partsOf(definition, query)) {
      const limit = query.limit - found.length;
      // To MongoDB, a limit of 0 means no limit.
      if (limit > 0) found.push(...(await this.#foundIn(definition, part, limit, projection)));
    }
    return found;
  }

  async #foundIn(
    definition: CollectionDefinition, { query, beyond }: Part, limit: number, projection: Stored,
  ): Promise<readonly Stored[]> {
    const conditions = conditionsOf(definition, query, beyond);
    if (!conditions) return [];
    const field = storedName(definition, orderFieldOf(definition, query));
    const direction = query.order.descending ? -1 : 1;
    const index = indexFor(definition, query);
    const page = { skip: query.offset ?? 0, limit, projection, ...(index && { hint: index }) };
    const order = { [field]: direction, _id: direction } as const;
    return this.#ask((signal) =>
      this.#stored(definition).find(all(conditions), { ...page, signal }).sort(order).toArray());
  }

  #values(
    definition: CollectionDefinition,
    conditions: readonly Filter<Stored>[],
    name: string,
    above: unknown,
    limit: number,
  ): Promise<unknown[]> {
    const next = { [name]: above === null ? { $ne: null } : { $gt: above } };
    const pipeline = [
      { $match: all([...conditions, next]) },
      { $group: { _id: `$${name}` } },
      { $sort: { _id: 1 } },
      { $limit: limit },
    ];
    return this.#ask(async (signal) => {
      const found = await this.#stored(definition).aggregate(pipeline, { signal }).toArray();
      return found.map(({ _id: value }) => value as unknown);
    });
  }

  async #among(
    definition: CollectionDefinition,
    conditions: readonly Filter<Stored>[],
    name: string,
    values: readonly unknown[],
  ): Promise<unknown[]> {
    const selected = await Promise.all(values.map((value) => {
      const filter = all([...conditions, { [name]: value }]);
      return this.#ask((signal) => this.#stored(definition).findOne(filter, { projection: { _id: 1 }, signal }));
    }));
    return values.filter((_, at) => selected[at] !== null);
  }

  #ask<Result>(question: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#connection.reach(ReadModelsUnavailable, patience.questionMs, question);
  }

  #counters(): Collection<{ readonly _id: string; readonly n: number }> {
    return this.#connection.db.collection(storedIn(this.generation, countersName));
  }

  #stored(definition: CollectionDefinition): Collection {
    return this.#connection.db.collection(storedIn(this.generation, definition.name));
  }

  #definition(collection: string): CollectionDefinition {
    const definition = this.#definitions.get(collection);
    if (!definition) throw new ReadModelsUnavailable(`the read models have no collection ${collection}`);
    return definition;
  }
}

function bucketsWithin(scope: string, from: number, to: number) {
  return { _id: { $gte: counterId(scope, from), $lte: counterId(scope, to) } };
}

function conditionsOf(
  definition: CollectionDefinition, selection: Selection, beyond?: Beyond,
): Filter<Stored>[] | null {
  const { where = {}, anyOf, range, within } = selection;
  const conditions: Filter<Stored>[] = [];
  for (const [field, value] of Object.entries(where)) {
    const encoded = encode(kindOf(definition, field), value);
    if (encoded === unmatched) return null;
    conditions.push({ [storedName(definition, field)]: encoded });
  }
  if (anyOf) {
    const kind = kindOf(definition, anyOf.field);
    const values = anyOf.values.map((value) => encode(kind, value)).filter((value) => value !== unmatched);
    conditions.push({ [storedName(definition, anyOf.field)]: { $in: values } });
  }
  for (const ranged of [range, within]) {
    if (!ranged) continue;
    const bounds = boundsOf(definition, ranged);
    if (!bounds) return null;
    conditions.push({ [storedName(definition, ranged.field)]: bounds });
  }
  if (beyond) {
    const encoded = encode(kindOf(definition, beyond.field), beyond.value);
    if (encoded === unmatched) return null;
    const operator = encoded === null ? "$ne" : beyond.operator === "<" ? "$lt" : "$gt";
    conditions.push({ [storedName(definition, beyond.field)]: { [operator]: encoded } });
  }
  return conditions;
}

/** MongoDB compares values of one type only, so null is within no bounds. */
function boundsOf(definition: CollectionDefinition, { field, from, to }: FieldRange) {
  const kind = kindOf(definition, field);
  const bounds: Record<string, StoredValue> = {};
  for (const [operator, value] of [["$gte", from], ["$lte", to]] as [string, FieldValue | undefined][]) {
    if (value === undefined) continue;
    const encoded = encode(kind, value);
    if (encoded === unmatched || encoded === null) return null;
    bounds[operator] = encoded;
  }
  return from === undefined && to === undefined ? { $ne: null } : bounds;
}

/** One filter, flat where possible: not every query planner sees through nested ones. */
function all(conditions: readonly Filter<Stored>[]): Filter<Stored> {
  const flat: Filter<Stored> = {};
  const others: Filter<Stored>[] = [];
  for (const condition of conditions) {
    if (Object.keys(condition).some((field) => field in flat)) others.push(condition);
    else Object.assign(flat, condition);
  }
  return others.length > 0 ? { ...flat, $and: others } : flat;
}
