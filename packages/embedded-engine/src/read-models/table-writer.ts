import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import type {
  CollectionDefinition, Document, FieldKind, FieldValue,
} from "../../../../src/kernel/ports/read-models.ts";
import { addTallies, type Effect } from "../../../../src/kernel/read-models/engine/folded-changes.ts";
import { unmatched } from "../../../../src/kernel/read-models/engine/queries.ts";
import { byName, decode, encode, quoted, tableOf } from "./columns.ts";

/** Documents with cached tallies: most batches add to the same ones. */
const keptInMemory = 1_000;

/** Each value is bound, and so copied, before the column's `room` is used again. */
interface Column {
  readonly field: string;
  readonly kind: FieldKind;
  readonly room: Uint8Array;
}

/** Writes the documents of one collection. */
export class TableWriter {
  readonly #database: DatabaseSync;
  readonly #definition: CollectionDefinition;
  readonly #columns: readonly Column[];
  readonly #byField: ReadonlyMap<string, Column>;
  readonly #row: SQLInputValue[];
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  #readNumbers: StatementSync | undefined;
  readonly #numbers = new LRUCache<string, Record<string, number>>({ max: keptInMemory });
  readonly #sets = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, definition: CollectionDefinition) {
    this.#database = database;
    this.#definition = definition;
    const fields = Object.entries(definition.fields);
    this.#columns = fields.map(([field, kind]) => ({ field, kind, room: new Uint8Array(16) }));
    this.#byField = new Map(this.#columns.map((column) => [column.field, column]));
    this.#row = this.#columns.map(() => null);
    const key = quoted(definition.key);
    const columns = this.#columns.map(({ field }) => quoted(field));
    const updates = columns.map((column) => `${column} = excluded.${column}`).join(", ");
    this.#put = database.prepare(
      `INSERT INTO ${tableOf(definition)} VALUES (${columns.map(() => "?").join(", ")}) ` +
        `ON CONFLICT (${key}) DO UPDATE SET ${updates}`,
    );
    this.#remove = database.prepare(`DELETE FROM ${tableOf(definition)} WHERE ${key} = ?`);
  }

  get personal(): boolean {
    return this.#definition.personal ?? false;
  }

  /** Applies an effect; false without a document to change. Throws a TypeError for a value of the wrong kind. */
  write(key: string, effect: Exclude<Effect, { op: "none" }>): boolean {
    if (effect.op === "tally") {
      this.#tally(key, effect);
      return true;
    }
    this.#numbers.delete(key);
    switch (effect.op) {
      case "remove":
        return this.#remove.run(this.#stored(this.#definition.key, key)).changes !== 0;
      case "set":
        return this.#set(key, effect.fields, effect.raised);
      case "put":
        this.#replace(effect.document);
        return true;
    }
  }

  /** Call after a rollback. */
  forget(): void {
    this.#numbers.clear();
  }

  #tally(key: string, { field, document, sums, peaks }: Extract<Effect, { op: "tally" }>): void {
    const before = this.#numbers.get(key) ?? this.#storedNumbers(key, field);
    const numbers = before ?? {};
    addTallies(numbers, sums, peaks);
    const sorted = byName(numbers);
    // Indexes do not contain tallies, so an existing document costs no change of them.
    if (before === null) this.#replace({ ...document, [field]: sorted });
    else this.#set(key, { [field]: sorted }, {});
    if (sorted !== this.#numbers.get(key)) this.#numbers.set(key, sorted);
  }

  #replace(document: Document): void {
    let at = 0;
    for (const column of this.#columns) {
      this.#row[at] = this.#value(column, document[column.field] ?? null);
      at += 1;
    }
    this.#put.run(...this.#row);
  }

  /** Null without a document. */
  #storedNumbers(key: string, field: string): Record<string, number> | null {
    const [table, keyColumn] = [tableOf(this.#definition), quoted(this.#definition.key)];
    const sql = `SELECT ${quoted(field)} AS numbers FROM ${table} WHERE ${keyColumn} = ?`;
    this.#readNumbers ??= this.#database.prepare(sql);
    const row = this.#readNumbers.get(this.#stored(this.#definition.key, key));
    return decode("numbers", row?.["numbers"] ?? null) as Record<string, number> | null;
  }

  #set(
    key: string, fields: Readonly<Record<string, FieldValue>>, raised: Readonly<Record<string, FieldValue>>,
  ): boolean {
    const values: SQLInputValue[] = [];
    for (const field in fields) values.push(this.#stored(field, fields[field] ?? null));
    for (const field in raised) {
      const least = this.#stored(field, raised[field] ?? null);
      values.push(least, least);
    }
    const statement = this.#setOf(Object.keys(fields), Object.keys(raised));
    return statement.run(...values, this.#stored(this.#definition.key, key)).changes !== 0;
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
    const column = this.#byField.get(field);
    if (column) return this.#value(column, value);
    throw new TypeError(`${this.#definition.name} has no field ${field}`);
  }

  #value({ field, kind, room }: Column, value: FieldValue): SQLInputValue {
    const encoded = encode(kind, value, room);
    if (encoded !== unmatched) return encoded;
    throw new TypeError(`${this.#definition.name}.${field}: not a value of kind ${kind}`);
  }
}
