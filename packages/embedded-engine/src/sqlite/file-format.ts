import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** A database file's `user_version` and `application_id` (the release), which older programs and `VACUUM INTO` keep. */
export interface FileFormat {
  /** Raised only if an older program would misread the file, or this one an older file. */
  readonly version: number;
  /** The first release that reads the version, such as "0.4.0". */
  readonly release: string;
}

/** A file's declared format; `release` is null if it is not declared. */
export type FoundFormat = Pick<FileFormat, "version"> & { readonly release: string | null };

/** The version of a file without a mark: releases 0.1.0 and 0.2.0 marked only the log. */
const unmarked = 1;

/** The SQL that marks a database, for the transaction that makes its tables. */
export function marking({ version, release }: FileFormat): string {
  return `PRAGMA user_version = ${version}; PRAGMA application_id = ${numberOf(release)};`;
}

/** An open database's format; null without tables. */
export function formatIn(database: DatabaseSync): FoundFormat | null {
  const number = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0] as number;
  const version = number("PRAGMA user_version");
  if (version === 0 && number("SELECT count(*) FROM sqlite_schema") === 0) return null;
  return { version: version || unmarked, release: releaseOf(number("PRAGMA application_id")) };
}

/** The format of a file; null for a missing file or one without tables. Writes nothing. */
export function formatOf(path: string): FoundFormat | null {
  if (!existsSync(path)) return null;
  const database = openUnchanged(path);
  try {
    return formatIn(database);
  } finally {
    database.close();
  }
}

/** Throws if a file is newer than this program reads; the error names the release that reads it. */
export function requireNotNewer(found: FoundFormat | null, own: FileFormat): void {
  if (!found || found.version <= own.version) return;
  const { version, release } = found;
  const reader = release === null ? "a later release" : `release ${release} or later`;
  throw new Error(`is of version ${version}, which needs ${reader}; this one reads ${own.version}`);
}

export function requireFormat(found: FoundFormat | null, own: FileFormat): void {
  requireNotNewer(found, own);
  if (!found || found.version === own.version) return;
  throw new Error(`is of version ${found.version}: a start of the relay brings it to version ${own.version}`);
}

/** Without a write-ahead log to read, SQLite would create one. */
function openUnchanged(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

function numberOf(release: string): number {
  return release.split(".").reduce((number, part) => number * 1000 + Number(part), 0);
}

function releaseOf(number: number): string | null {
  if (number === 0) return null;
  return [Math.floor(number / 1_000_000), Math.floor(number / 1000) % 1000, number % 1000].join(".");
}
