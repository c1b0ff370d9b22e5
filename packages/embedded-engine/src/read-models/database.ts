import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { ReadModelsUnavailable, type CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { formatOf, marking, type FileFormat } from "../sqlite/file-format.ts";

/** The format of the file without its collections: the file has their definitions. */
export const readModelsFormat: FileFormat = { version: 1, release: "0.1.0" };

/** 32 MiB of recent pages stay in memory: the pages of a large batch do not fit in 16, and it costs a quarter more. */
const pragmas = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768;
  PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
`;
const ownTables = `
  CREATE TABLE IF NOT EXISTS state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    checkpoint TEXT NOT NULL, fingerprint TEXT NOT NULL, definitions TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS scopes (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS counters (
    scope INTEGER, bucket INTEGER, total INTEGER NOT NULL, PRIMARY KEY (scope, bucket)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS scrubs (collection TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  ${marking(readModelsFormat)}
`;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = [11, 26];

/** Opens the file, or replaces it if its version differs or it is visibly damaged; most damage shows only later. */
export function openDatabase(file: string, onDamage: (error: unknown) => void): DatabaseSync {
  try {
    if (isOfAnotherVersion(file)) removeDatabase(file);
    return prepared(file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    onDamage(error);
    removeDatabase(file);
    return prepared(file);
  }
}

/** Removes the file, which must be closed, and its companions. */
export function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

/** The stored collections; none before the first build. Throws if the database has no such table. */
export function definitionsIn(database: DatabaseSync): CollectionDefinition[] {
  const row = database.prepare("SELECT definitions FROM state").get();
  return JSON.parse(String(row?.["definitions"] ?? "[]")) as CollectionDefinition[];
}

function isOfAnotherVersion(file: string): boolean {
  const { version } = formatOf(file) ?? readModelsFormat;
  return version !== readModelsFormat.version;
}

function prepared(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec(pragmas);
    database.exec(ownTables);
    // Every start reads these tables: damage in them shows here.
    database.exec("SELECT * FROM state; SELECT * FROM scrubs;");
    definitionsIn(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR" && "errcode" in error;
}

/** Stored data contradict each other, in pages that SQLite finds intact. */
export class Contradiction extends Error {}

/** Whether the error means a damaged file; unparsable stored JSON does. */
export function isDamage(error: unknown): boolean {
  if (error instanceof ReadModelsUnavailable) return isDamage(error.cause);
  if (error instanceof SyntaxError || error instanceof Contradiction) return true;
  return isSqliteError(error) && damaged.includes(error.errcode & 0xff);
}

/** An engine's error as the port's; other errors unchanged. */
export function unavailable(error: unknown): unknown {
  return isSqliteError(error) || error instanceof SyntaxError || error instanceof Contradiction
    ? new ReadModelsUnavailable(error.message, { cause: error })
    : error;
}
