import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/**
 * The format of a database file, as its header says it: the version is SQLite's `user_version`, the release its
 * `application_id`. Older programs, SQLite's `VACUUM INTO` included, leave both as they are.
 */
export interface FileFormat {
  /** Raised only where an older program would misread the file, or this one an older file. */
  readonly version: number;
  /** The release that introduced the version, such as "0.4.0": it and later ones read the file. */
  readonly release: string;
}

/** The format that a file says it has; `release` is null where it does not say that. */
export type FoundFormat = Pick<FileFormat, "version"> & { readonly release: string | null };

/** The version of a file with tables and no mark: releases 0.1.0 and 0.2.0 marked only the log. */
const unmarked = 1;

/** The SQL that marks an open database as of a format, for the transaction that makes its tables. */
export function marking({ version, release }: FileFormat): string {
  return `PRAGMA user_version = ${version}; PRAGMA application_id = ${numberOf(release)};`;
}

/** The format that an open database says it has; null where it has no tables yet. */
export function formatIn(database: DatabaseSync): FoundFormat | null {
  const number = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0] as number;
  const version = number("PRAGMA user_version");
  if (version === 0 && number("SELECT count(*) FROM sqlite_schema") === 0) return null;
  return { version: version || unmarked, release: releaseOf(number("PRAGMA application_id")) };
}

/** The format of the file at a path; null where there is none, or one without tables yet. Writes nothing. */
export function formatOf(path: string): FoundFormat | null {
  if (!existsSync(path)) return null;
  const database = openUnchanged(path);
  try {
    return formatIn(database);
  } finally {
    database.close();
  }
}

/** Throws where a file is of a newer version than this program's; the error says which release reads it. */
export function requireNotNewer(found: FoundFormat | null, own: FileFormat): void {
  if (!found || found.version <= own.version) return;
  const { version, release } = found;
  const reader = release === null ? "a later release" : `release ${release} or later`;
  throw new Error(`is of version ${version}, which needs ${reader}; this one reads ${own.version}`);
}

/** Throws where a file is of another version than this program's. */
export function requireFormat(found: FoundFormat | null, own: FileFormat): void {
  requireNotNewer(found, own);
  if (!found || found.version === own.version) return;
  throw new Error(`is of version ${found.version}: a start of the relay brings it to version ${own.version}`);
}

/** Without a write-ahead log to read, SQLite would make one beside the file. */
function openUnchanged(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

/** "1.22.3" as 1022003. */
function numberOf(release: string): number {
  return release.split(".").reduce((number, part) => number * 1000 + Number(part), 0);
}

function releaseOf(number: number): string | null {
  if (number === 0) return null;
  return [Math.floor(number / 1_000_000), Math.floor(number / 1000) % 1000, number % 1000].join(".");
}
