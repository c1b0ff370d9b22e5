import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { countersOf, type CollectionDefinition, type Counter } from "../../../../src/kernel/ports/read-models.ts";
import type { Effect, Folded } from "../../../../src/kernel/read-models/engine/folded-changes.ts";
import { Statements } from "../sqlite/statements.ts";
import { TableWriter } from "./table-writer.ts";

/** Rows written before waiting queries get a turn. */
const slice = 200;
const scopesRemembered = 100_000;

/** Writes folded batches within the caller's transaction. */
export class Writer {
  readonly #tables: ReadonlyMap<string, TableWriter>;
  readonly #statements: Statements;
  readonly #scopes = new Map<string, number>();

  constructor(database: DatabaseSync, definitions: Iterable<CollectionDefinition>) {
    this.#statements = new Statements(database);
    this.#tables = new Map([...definitions].map((one) => [one.name, new TableWriter(database, one)]));
  }

  /** Resolves to the personal collections that lost data. Throws a TypeError for values that do not fit. */
  async write({ documents, counters }: Folded): Promise<ReadonlySet<string>> {
    const takenFrom = new Set<string>();
    let rows = 0;
    for (const [collection, effects] of documents) {
      const table = this.#tables.get(collection);
      if (!table) throw new TypeError(`no collection ${collection}`);
      for (const [key, effect] of effects) {
        if (effect.op === "none") continue;
        if (table.write(key, effect) && table.personal && takesAway(effect)) takenFrom.add(collection);
        if ((rows += 1) % slice === 0) await nextTurn();
      }
    }
    for (const [scope, { rollUps, byBucket }] of counters) {
      for (const [bucket, by] of byBucket) {
        if (by === 0) continue;
        for (const counter of countersOf({ scope, bucket, rollUps })) this.#count(counter, by);
        if ((rows += 1) % slice === 0) await nextTurn();
      }
    }
    return takenFrom;
  }

  removeCounters(text: string): void {
    const named = "SELECT number FROM scopes WHERE instr(name, ?) > 0";
    this.#statements.of(`DELETE FROM counters WHERE scope IN (${named})`).run(text);
    this.#statements.of("DELETE FROM scopes WHERE instr(name, ?) > 0").run(text);
    this.forget();
  }

  forget(): void {
    this.#scopes.clear();
    for (const table of this.#tables.values()) table.forget();
  }

  #count({ scope, bucket }: Counter, by: number): void {
    const number = this.#scopeNumber(scope);
    const counted = this.#statements
      .rowsOf(
        "INSERT INTO counters (scope, bucket, total) VALUES (?, ?, ?) " +
          "ON CONFLICT DO UPDATE SET total = total + excluded.total RETURNING total",
      )
      .get(number, bucket, by) as unknown as readonly number[];
    // A counter at zero means the same as a missing one.
    if (counted[0] === 0) {
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

function takesAway(effect: Effect): boolean {
  return effect.op === "remove" || (effect.op === "set" && Object.values(effect.fields).includes(null));
}
