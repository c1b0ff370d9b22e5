import type { Collection, Document as Stored, Filter } from "mongodb";
import {
  ReadModelsUnavailable,
  type CollectionDefinition,
  type Document,
  type FieldValue,
  type Query,
  type Selection,
} from "../../ports/read-models.ts";
import { all, conditionsOf } from "./conditions.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { counterId, lowestBucket, highestBucket } from "./counters.ts";
import { decode, decodeDocument, encode, kindOf, storedName, unmatched } from "./fields.ts";
import { countersName, storedIn } from "./generation.ts";

/** Answers questions from the collections of one generation. */
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
    const found = await this.#ask(() => this.#stored(definition).findOne({ _id: encoded } as Filter<Stored>));
    return found && decodeDocument(definition, found);
  }

  async find(query: Query): Promise<readonly Document[]> {
    const definition = this.#definition(query.collection);
    const conditions = conditionsOf(definition, query);
    if (!conditions) return [];
    const direction = query.order.descending ? -1 : 1;
    // A field that has the same value everywhere orders nothing.
    const field = query.where && query.order.field in query.where ? definition.key : query.order.field;
    const order = { [storedName(definition, field)]: direction, _id: direction } as const;
    const found = await this.#ask(() =>
      this.#stored(definition).find(all(conditions)).sort(order).skip(query.offset ?? 0).limit(query.limit).toArray());
    return found.map((stored) => decodeDocument(definition, stored));
  }

  async count(selection: Selection): Promise<number> {
    const definition = this.#definition(selection.collection);
    const conditions = conditionsOf(definition, selection);
    if (!conditions) return 0;
    return this.#ask(() => this.#stored(definition).countDocuments(all(conditions)));
  }

  /**
   * A range that is open at one end would make as many documents be looked at as there are: then the values are found
   * without it, for which the index is not read but skipped through, and each is looked up within the range.
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

  async sum(scope: string, from = lowestBucket, to = highestBucket): Promise<number> {
    const counters = this.#connection.db.collection<{ _id: string }>(storedIn(this.generation, countersName));
    const within = { _id: { $gte: counterId(scope, from), $lte: counterId(scope, to) } };
    const [sum] = await this.#ask(() =>
      counters.aggregate([{ $match: within }, { $group: { _id: null, total: { $sum: "$n" } } }]).toArray());
    return (sum?.["total"] as number | undefined) ?? 0;
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
    return this.#ask(async () => {
      const found = await this.#stored(definition).aggregate(pipeline).toArray();
      return found.map(({ _id: value }) => value as unknown);
    });
  }

  async #among(
    definition: CollectionDefinition,
    conditions: readonly Filter<Stored>[],
    name: string,
    values: readonly unknown[],
  ): Promise<unknown[]> {
    const selected = await Promise.all(
      values.map((value) =>
        this.#ask(() =>
          this.#stored(definition).findOne(all([...conditions, { [name]: value }]), { projection: { _id: 1 } }))),
    );
    return values.filter((_, at) => selected[at] !== null);
  }

  #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    return this.#connection.reach(ReadModelsUnavailable, patience.questionMs, question);
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
