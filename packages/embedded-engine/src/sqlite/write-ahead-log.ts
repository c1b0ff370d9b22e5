import type { DatabaseSync } from "node:sqlite";
import { orEndUnsynced } from "../../../../src/kernel/files.ts";

/**
 * Moves committed pages from the write-ahead log of a database into its file, as far as no reader is in the way.
 * A sync that fails ends the process: see {@link orEndUnsynced}.
 */
export function moveWriteAheadLog(database: DatabaseSync, file: string): void {
  orEndUnsynced(file, () => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

/**
 * Moves all of the write-ahead log and empties it, so that no old page is left in it. False where a reader was in the
 * way for as long as the connection waits for locks. A sync that fails ends the process: see {@link orEndUnsynced}.
 */
export function emptyWriteAheadLog(database: DatabaseSync, file: string): boolean {
  const empty = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  return orEndUnsynced(file, () => empty.get())?.["busy"] === 0;
}
