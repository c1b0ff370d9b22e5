import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Statements prepared once. The texts are ours and few, so none is ever dropped. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The statement of a text, with rows as objects. */
  of(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  /** Like {@link of}, with rows as arrays. A text is used either way, never both. */
  rowsOf(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.of(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}
