import type { DatabaseSync } from "node:sqlite";
import { orEndUnsynced } from "../../../../src/kernel/files.ts";

/** Checkpoints a database as far as readers permit. A failed sync ends the process: see {@link orEndUnsynced}. */
export function moveWriteAheadLog(database: DatabaseSync, file: string): void {
  orEndUnsynced(file, () => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

/** Empties the write-ahead log; false if a reader is in the way. A failed sync ends the process. */
export function emptyWriteAheadLog(database: DatabaseSync, file: string): boolean {
  const empty = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  return orEndUnsynced(file, () => empty.get())?.["busy"] === 0;
}
