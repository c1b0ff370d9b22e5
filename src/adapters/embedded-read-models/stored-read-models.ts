import { DatabaseSync } from "node:sqlite";
import type { CollectionDefinition, Document, FieldValue, Query, Selection } from "../../ports/read-models.ts";
import { Queries } from "./queries.ts";

/** Read models as they are stored, for a look from outside while another process may be writing them. */
export class StoredReadModels {
  readonly #database: DatabaseSync;
  readonly #definitions: ReadonlyMap<string, CollectionDefinition>;
  readonly #queries: Queries;

  /** Throws when the file holds no read models. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true });
    const row = this.#database.prepare("SELECT definitions FROM state").get();
    const definitions = JSON.parse(String(row?.["definitions"] ?? "[]")) as CollectionDefinition[];
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#queries = new Queries(this.#database);
  }

  /** As ReadModels has it; throws an Error where the stored read models lack the collection, as all questions do. */
  async get(collection: string, key: string): Promise<Document | null> {
    return this.#queries.get(this.#definition(collection), key);
  }

  /** As ReadModels has it. */
  async find(query: Query): Promise<readonly Document[]> {
    return this.#queries.find(this.#definition(query.collection), query);
  }

  /** As ReadModels has it. */
  async distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    return this.#queries.distinct(this.#definition(selection.collection), selection, field, options);
  }

  /** As ReadModels has it. */
  async count(selection: Selection): Promise<number> {
    return this.#queries.count(this.#definition(selection.collection), selection);
  }

  /** Ends the connection; no question may be asked after it. */
  close(): void {
    this.#database.close();
  }

  #definition(collection: string): CollectionDefinition {
    const definition = this.#definitions.get(collection);
    if (!definition) throw new Error(`the read models have no collection ${collection} yet: start the relay once`);
    return definition;
  }
}
