import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CollectionDefinition, FieldValue } from "../../ports/read-models.ts";
import { encode, quoted, tableOf, unmatched } from "./columns.ts";
import type { Effect } from "../../ports/folded-changes.ts";

/** Writes the documents of one collection. */
export class TableWriter {
  readonly #database: DatabaseSync;
  readonly #definition: CollectionDefinition;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  /** By the fields they set and raise. */
  readonly #sets = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, definition: CollectionDefinition) {
    this.#database = database;
    this.#definition = definition;
    const key = quoted(definition.key);
    const columns = Object.keys(definition.fields).map(quoted);
    const updates = columns.map((column) => `${column} = excluded.${column}`).join(", ");
    this.#put = database.prepare(
      `INSERT INTO ${tableOf(definition)} VALUES (${columns.map(() => "?").join(", ")}) ` +
        `ON CONFLICT (${key}) DO UPDATE SET ${updates}`,
    );
    this.#remove = database.prepare(`DELETE FROM ${tableOf(definition)} WHERE ${key} = ?`);
  }

  write(key: string, effect: Effect): void {
    switch (effect.op) {
      case "none":
        return;
      case "remove":
        this.#remove.run(this.#stored(this.#definition.key, key));
        return;
      case "set":
        this.#set(key, effect.fields, effect.raised);
        return;
      case "put": {
        const row: SQLInputValue[] = [];
        for (const field in this.#definition.fields) row.push(this.#stored(field, effect.document[field] ?? null));
        this.#put.run(...row);
      }
    }
  }

  #set(key: string, fields: Readonly<Record<string, FieldValue>>, raised: Readonly<Record<string, FieldValue>>): void {
    const values: SQLInputValue[] = [];
    for (const field in fields) values.push(this.#stored(field, fields[field] ?? null));
    for (const field in raised) {
      const least = this.#stored(field, raised[field] ?? null);
      values.push(least, least);
    }
    this.#setOf(Object.keys(fields), Object.keys(raised)).run(...values, this.#stored(this.#definition.key, key));
  }

  #setOf(fields: readonly string[], raised: readonly string[]): StatementSync {
    const name = [...fields, "", ...raised].join();
    let statement = this.#sets.get(name);
    if (!statement) {
      const columns = [
        ...fields.map((field) => `${quoted(field)} = ?`),
        ...raised.map((field) => `${quoted(field)} = max(coalesce(${quoted(field)}, ?), ?)`),
      ].join(", ");
      const table = tableOf(this.#definition);
      statement = this.#database.prepare(`UPDATE ${table} SET ${columns} WHERE ${quoted(this.#definition.key)} = ?`);
      this.#sets.set(name, statement);
    }
    return statement;
  }

  #stored(field: string, value: FieldValue): SQLInputValue {
    const kind = this.#definition.fields[field];
    const encoded = kind === undefined ? unmatched : encode(kind, value);
    if (encoded !== unmatched) return encoded;
    throw new TypeError(`${this.#definition.name}.${field}: not a value of kind ${kind ?? "unknown"}`);
  }
}
