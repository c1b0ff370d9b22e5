import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { quoted, schemaOf, tableOf } from "./columns.ts";

const slice = 1_000;

/** Rewrites a collection's table in steps, one transaction each, while it stays usable. Restart it after a failure. */
export function* rewriting(database: DatabaseSync, definition: CollectionDefinition): Generator<void, void> {
  const [table, copy, old] = [tableOf(definition), tableOf(definition, "n"), tableOf(definition, "o")];
  const oldIndexes = indexesOf(database, table);
  const prefix = oldIndexes.some((name) => name.startsWith("i_")) ? "j" : "i";
  const [tableSql, ...indexesSql] = schemaOf(definition, copy, prefix);

  database.exec(`DROP TABLE IF EXISTS ${copy}; DROP TABLE IF EXISTS ${old}; ${tableSql}`);
  const stopFollowing = follow(database, definition, copy);
  yield;

  yield* copying(database, definition, copy);

  // An index built from all rows takes a fraction of the time of single additions.
  for (const sql of indexesSql) {
    database.exec(sql);
    yield;
  }

  stopFollowing();
  database.exec(`ALTER TABLE ${table} RENAME TO ${old}; ALTER TABLE ${copy} RENAME TO ${table};`);
  yield;

  // A drop zeroes all pages, so all drops in one step would take long.
  for (const name of oldIndexes) {
    database.exec(`DROP INDEX ${quoted(name)}`);
    yield;
  }
  database.exec(`DROP TABLE ${old}`);
}

/** Copies the rows in slices; the copy already has rows changed meanwhile. */
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

/** Repeats changes in the copy, by triggers of the connection; returns a function that removes them. */
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

/** Without the primary key's own index. */
function indexesOf(database: DatabaseSync, table: string): string[] {
  const all = database.prepare(`PRAGMA main.index_list(${table})`).all();
  return all.filter(({ origin }) => origin === "c").map(({ name }) => String(name));
}
