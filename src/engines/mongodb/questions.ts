import type { Collection, Document as Stored, Filter } from "mongodb";
import {
  ReadModelsUnavailable, type Bucket, type CollectionDefinition, type Document, type FieldValue, type Query,
  type Selection,
} from "../../kernel/ports/read-models.ts";
import { highestBucket, lowestBucket } from "../../kernel/read-models/engine/buckets.ts";
import { kindOf, unmatched } from "../../kernel/read-models/engine/fields.ts";
import { orderFieldOf } from "../../kernel/read-models/engine/indexes.ts";
import { partsOf, type Part } from "../../kernel/read-models/engine/places.ts";
import { all, conditionsOf } from "./conditions.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { bucketOf, counterId } from "./counters.ts";
import { decode, decodeDocument, encode, storedName } from "./fields.ts";
import { countersName, storedIn } from "./generation.ts";
import { indexFor } from "./index-choice.ts";

/** Answers queries from the collections of one generation. */
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

  /** The document with this key, or null. Throws ReadModelsUnavailable, as all queries do. */
  async get(collection: string, key: string): Promise<Document | null> {
    const definition = this.#definition(collection);
    const encoded = encode(kindOf(definition, definition.key), key);
    if (encoded === unmatched) return null;
    const found = await this.#ask((signal) =>
      this.#stored(definition).findOne({ _id: encoded } as Filter<Stored>, { signal }));
    return found && decodeDocument(definition, found);
  }

  /** One page, by the index that {@link indexFor} picks, or MongoDB itself where that picks none. */
  async find(query: Query): Promise<readonly Document[]> {
    const definition = this.#definition(query.collection);
    return (await this.#found(definition, query)).map((stored) => decodeDocument(definition, stored));
  }

  /** The keys of the documents that `find` returns. */
  async keys(query: Query): Promise<readonly string[]> {
    const definition = this.#definition(query.collection);
    const kind = kindOf(definition, definition.key);
    return (await this.#found(definition, query, { _id: 1 })).map(({ _id: key }) => decode(kind, key) as string);
  }

  /** Counts by looking at every selected document. */
  async count(selection: Selection): Promise<number> {
    const definition = this.#definition(selection.collection);
    const conditions = conditionsOf(definition, selection);
    if (!conditions) return 0;
    return this.#ask((signal) => this.#stored(definition).countDocuments(all(conditions), { signal }));
  }

  /**
   * For a range open at one end, MongoDB would look at every document. So the values are found without the range, by
   * skipping through the index, and each value is then looked up within the range.
   */
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

  /** The counters of a scope with `from` <= bucket <= `to`, together; all of them without a range. */
  async sum(scope: string, from = lowestBucket, to = highestBucket): Promise<number> {
    const pipeline = [{ $match: within(scope, from, to) }, { $group: { _id: null, total: { $sum: "$n" } } }];
    const [sum] = await this.#ask((signal) => this.#counters().aggregate(pipeline, { signal }).toArray());
    return (sum?.["total"] as number | undefined) ?? 0;
  }

  /** The counters that `sum` adds, one by one, in the order of their buckets, without zeros. */
  async buckets(scope: string, from = lowestBucket, to = highestBucket): Promise<Bucket[]> {
    const some = { ...within(scope, from, to), n: { $ne: 0 } };
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

  #ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
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

function within(scope: string, from: number, to: number) {
  return { _id: { $gte: counterId(scope, from), $lte: counterId(scope, to) } };
}
