import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Prepared statements by their texts, which are ours and few: none is dropped. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  of(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  /** Like {@link of}, with rows as arrays. Use a text one way only. */
  rowsOf(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.of(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}
