import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CollectionDefinition } from "../../../ports/read-models.ts";
import { quoted, schemaOf, tableOf } from "./columns.ts";

/** Rows copied at once. */
const slice = 1_000;

/**
 * Writes the table of a collection anew, step by step, until nothing of the old one is left. Each step is to be made in
 * a transaction of its own; between them the table is read and written as ever. After one that failed begin anew: the
 * first clears away what there is of a copy.
 */
export function* rewriting(database: DatabaseSync, definition: CollectionDefinition): Generator<void, void> {
  const [table, copy, old] = [tableOf(definition), tableOf(definition, "n"), tableOf(definition, "o")];
  const oldIndexes = indexesOf(database, table);
  const prefix = oldIndexes.some((name) => name.startsWith("i_")) ? "j" : "i";
  const [tableSql, ...indexesSql] = schemaOf(definition, copy, prefix);

  database.exec(`DROP TABLE IF EXISTS ${copy}; DROP TABLE IF EXISTS ${old}; ${tableSql}`);
  const stopFollowing = follow(database, definition, copy);
  yield;

  yield* copying(database, definition, copy);

  // Made of all rows an index takes a fraction of the time that it takes to grow with them.
  for (const sql of indexesSql) {
    database.exec(sql);
    yield;
  }

  stopFollowing();
  database.exec(`ALTER TABLE ${table} RENAME TO ${old}; ALTER TABLE ${copy} RENAME TO ${table};`);
  yield;

  // Every page is zeroed: all at once that would take long.
  for (const name of oldIndexes) {
    database.exec(`DROP INDEX ${quoted(name)}`);
    yield;
  }
  database.exec(`DROP TABLE ${old}`);
}

/** Puts all rows of the table into its copy, slice by slice; what was changed meanwhile is there already. */
function* copying(database: DatabaseSync, definition: CollectionDefinition, copy: string): Generator<void, void> {
  const key = quoted(definition.key);
  let behind = "";
  const values: SQLInputValue[] = [];
  for (;;) {
    const some = `FROM ${tableOf(definition)} ${behind} ORDER BY ${key} LIMIT ${slice}`;
    const found = database.prepare(`SELECT max(k) AS last FROM (SELECT ${key} AS k ${some})`).get(...values);
    if (found?.["last"] == null) return;
    database.prepare(`INSERT OR IGNORE INTO ${copy} SELECT * ${some}`).run(...values);
    behind = `WHERE ${key} > ?`;
    values[0] = found["last"];
    yield;
  }
}

/** Has changes of the table made in its copy, too, as long as the database is open; returns what ends that. */
function follow(database: DatabaseSync, definition: CollectionDefinition, copy: string): () => void {
  const [table, key] = [tableOf(definition), quoted(definition.key)];
  const put = `INSERT OR REPLACE INTO ${copy} SELECT * FROM ${table} WHERE ${key} = new.${key}`;
  const changes = { INSERT: put, UPDATE: put, DELETE: `DELETE FROM ${copy} WHERE ${key} = old.${key}` };
  const nameOf = (change: string) => `temp.${quoted(`${change} ${definition.name}`)}`;
  const stop = () => {
    for (const change in changes) database.exec(`DROP TRIGGER IF EXISTS ${nameOf(change)}`);
  };
  stop();
  for (const [change, same] of Object.entries(changes)) {
    database.exec(`CREATE TRIGGER ${nameOf(change)} AFTER ${change} ON main.${table} BEGIN ${same}; END`);
  }
  return stop;
}

/** The names of a table's indexes, but for what its key is kept by. */
function indexesOf(database: DatabaseSync, table: string): string[] {
  const all = database.prepare(`PRAGMA main.index_list(${table})`).all();
  return all.filter(({ origin }) => origin === "c").map(({ name }) => String(name));
}
