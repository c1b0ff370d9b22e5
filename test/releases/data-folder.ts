import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Pragmas that SQLite stores in the header of a file. */
const kept = ["page_size", "auto_vacuum", "application_id", "user_version", "journal_mode"] as const;
const ending = ".sql";

/** Files that belong to a database or that a start creates again: locks, and the index of the log. */
const passedOver = [/\.db-(wal|shm)$/, /\.lock$/, /^index$/];

/** Writes the databases of an unused data folder as texts, one a file. Throws if the folder has any other file. */
export function dumpDataFolder(dataDir: string, folder: string): void {
  for (const file of readdirSync(dataDir).filter((name) => !passedOver.some((pattern) => pattern.test(name)))) {
    if (!file.endsWith(".db")) throw new Error(`${file} of the data folder has no place in a record yet`);
    dumpDatabase(join(dataDir, file), folder);
  }
}

/** Writes an unused database as a text. */
export function dumpDatabase(path: string, folder: string): void {
  writeFileSync(join(folder, basename(path) + ending), dump(path));
}

/** Creates a data folder from databases written as texts. */
export function loadDataFolder(folder: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith(ending))) {
    const database = new DatabaseSync(join(dataDir, file.slice(0, -ending.length)));
    database.exec(readFileSync(join(folder, file), "utf8"));
    database.close();
  }
}

/** The statements that create a database again. */
function dump(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  const head = kept.map((name) => `PRAGMA ${name} = ${String(database.prepare(`PRAGMA ${name}`).get()?.[name])};`);
  const made = database.prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").all();
  const rows = made.filter(({ type }) => type === "table").flatMap(({ name }) => rowsOf(database, String(name)));
  const statements = made.map(({ sql }) => `${String(sql)};`);
  database.close();
  return [...head, "BEGIN;", ...statements, ...rows, "COMMIT;", ""].join("\n");
}

function rowsOf(database: DatabaseSync, table: string): readonly string[] {
  const columns = database.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => String(name));
  const values = columns.map((name) => `quote("${name}")`).join(" || ', ' || ");
  return database.prepare(`SELECT ${values} AS row FROM "${table}"`).all().map(({ row }) =>
    `INSERT INTO "${table}" VALUES (${String(row)});`);
}
