import { DatabaseSync } from "node:sqlite";
import {
  ReadModelsUnavailable, type Bucket, type CollectionDefinition, type Document, type FieldValue, type Query,
  type ReadModelQuestions, type Selection,
} from "../../../../src/kernel/ports/read-models.ts";
import { formatIn, requireFormat } from "../sqlite/file-format.ts";
import { definitionsIn, readModelsFormat, unavailable } from "./database.ts";
import { Queries } from "./queries.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** Stored read models; sees whole batches only. A change of the collections needs a new instance. */
export class StoredReadModels implements ReadModelQuestions {
  /** By name; none before the first build. */
  readonly definitions: ReadonlyMap<string, CollectionDefinition>;
  readonly #database: DatabaseSync;
  readonly #queries: Queries;

  /** `readAhead`: of the same file. Throws if the database holds no read models. */
  constructor(database: DatabaseSync, readAhead?: ReadAhead) {
    this.#database = database;
    this.definitions = new Map(definitionsIn(database).map((definition) => [definition.name, definition]));
    this.#queries = new Queries(database, readAhead);
  }

  /** Opens a file that may be in use. Throws if it holds no read models or has another version. */
  static open(file: string): StoredReadModels {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      requireFormat(formatIn(database), readModelsFormat);
      return new StoredReadModels(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  async get(collection: string, key: string): Promise<Document | null> {
    return this.#ask(collection, (definition) => this.#queries.get(definition, key));
  }

  async find(query: Query): Promise<readonly Document[]> {
    return this.#ask(query.collection, (definition) => this.#queries.find(definition, query));
  }

  async keys(query: Query): Promise<readonly string[]> {
    return this.#ask(query.collection, (definition) => this.#queries.keys(definition, query));
  }

  async count(selection: Selection): Promise<number> {
    return this.#ask(selection.collection, (definition) => this.#queries.count(definition, selection));
  }

  async distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    const { collection } = selection;
    return this.#ask(collection, (definition) => this.#queries.distinct(definition, selection, field, options));
  }

  async sum(scope: string, from?: number, to?: number): Promise<number> {
    return this.#answered(() => this.#queries.sum(scope, from, to));
  }

  async buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]> {
    return this.#answered(() => this.#queries.buckets(scope, from, to));
  }

  close(): void {
    this.#database.close();
  }

  #answered<Result>(question: () => Result): Result {
    try {
      return question();
    } catch (error) {
      throw unavailable(error);
    }
  }

  #ask<Result>(collection: string, question: (definition: CollectionDefinition) => Result): Result {
    const definition = this.definitions.get(collection);
    if (!definition) {
      throw new ReadModelsUnavailable(`the read models have no collection ${collection} until a relay starts`);
    }
    return this.#answered(() => question(definition));
  }
}
