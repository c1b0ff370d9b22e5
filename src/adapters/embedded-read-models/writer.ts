import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { countersOf, type CollectionDefinition, type Counter, type FieldValue } from "../../ports/read-models.ts";
import { encodeStored, quoted, tableOf } from "./columns.ts";
import type { Effect, Folded } from "./fold.ts";
import { Statements } from "./statements.ts";

/** After so many rows written the thread turns to waiting queries. */
const slice = 200;
const scopesRemembered = 100_000;

/** Writes what batches come to. Runs within a transaction of the caller's. */
export class Writer {
  readonly #statements: Statements;
  readonly #scopes = new Map<string, number>();

  constructor(database: DatabaseSync) {
    this.#statements = new Statements(database);
  }

  async write(definitions: ReadonlyMap<string, CollectionDefinition>, { documents, counters }: Folded): Promise<void> {
    let rows = 0;
    for (const [collection, effects] of documents) {
      const definition = definitions.get(collection);
      if (!definition) throw new TypeError(`no collection ${collection}`);
      for (const [key, effect] of effects) {
        this.#writeDocument(definition, key, effect);
        if ((rows += 1) % slice === 0) await nextTurn();
      }
    }
    for (const [scope, { rollUps, byBucket }] of counters) {
      for (const [bucket, by] of byBucket) {
        if (by === 0) continue;
        for (const counter of countersOf({ scope, bucket, ...(rollUps && { rollUps }) })) this.#count(counter, by);
        if ((rows += 1) % slice === 0) await nextTurn();
      }
    }
  }

  /** Call when the transaction was rolled back. */
  forget(): void {
    this.#scopes.clear();
  }

  #writeDocument(definition: CollectionDefinition, key: string, effect: Effect): void {
    const table = tableOf(definition);
    const keyValue = encodeStored(definition, definition.key, key);
    const keyColumn = quoted(definition.key);
    switch (effect.op) {
      case "none":
        return;
      case "remove":
        this.#statements.of(`DELETE FROM ${table} WHERE ${keyColumn} = ?`).run(keyValue);
        return;
      case "set": {
        const fields = Object.keys(effect.fields);
        const columns = fields.map((field) => `${quoted(field)} = ?`).join(", ");
        const values = fields.map((field) => encodeStored(definition, field, effect.fields[field] ?? null));
        this.#statements.of(`UPDATE ${table} SET ${columns} WHERE ${keyColumn} = ?`).run(...values, keyValue);
        return;
      }
      case "put":
        this.#statements.of(putOf(definition)).run(...rowOf(definition, effect.document));
    }
  }

  #count({ scope, bucket }: Counter, by: number): void {
    const number = this.#scopeNumber(scope);
    const counted = this.#statements
      .of(
        "INSERT INTO counters (scope, bucket, total) VALUES (?, ?, ?) " +
          "ON CONFLICT DO UPDATE SET total = total + excluded.total RETURNING total",
      )
      .get(number, bucket, by);
    // A counter back at nothing is no different from one that never was.
    if (counted?.["total"] === 0) {
      this.#statements.of("DELETE FROM counters WHERE scope = ? AND bucket = ?").run(number, bucket);
    }
  }

  #scopeNumber(scope: string): number {
    let number = this.#scopes.get(scope);
    if (number === undefined) {
      this.#statements.of("INSERT OR IGNORE INTO scopes (name) VALUES (?)").run(scope);
      number = Number(this.#statements.of("SELECT number FROM scopes WHERE name = ?").get(scope)?.["number"]);
      if (this.#scopes.size >= scopesRemembered) this.#scopes.clear();
      this.#scopes.set(scope, number);
    }
    return number;
  }
}

function putOf(definition: CollectionDefinition): string {
  const columns = Object.keys(definition.fields).map(quoted);
  const updates = columns.map((column) => `${column} = excluded.${column}`).join(", ");
  return (
    `INSERT INTO ${tableOf(definition)} VALUES (${columns.map(() => "?").join(", ")}) ` +
    `ON CONFLICT (${quoted(definition.key)}) DO UPDATE SET ${updates}`
  );
}

function rowOf(definition: CollectionDefinition, document: Readonly<Record<string, FieldValue>>): SQLInputValue[] {
  const row: SQLInputValue[] = [];
  for (const field in definition.fields) row.push(encodeStored(definition, field, document[field] ?? null));
  return row;
}
