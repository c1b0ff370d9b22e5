import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder, fileProblem, inFile } from "../../../../src/kernel/files.ts";

/**
 * Holds a data folder for this process alone, until the returned function is called; makes the folder where there is
 * none. The lock is SQLite's own, on a file of its own: the operating system releases it when the process ends, however
 * it ends. Throws when another process, or this one already, holds the folder.
 */
export function lockDataFolder(dataDir: string): () => void {
  makeFolder(dataDir);
  // Releases that locked the folder for the log alone gave the file its name.
  const path = join(dataDir, "log.lock");
  const db = inFile(path, () => new DatabaseSync(path, { timeout: 0 }));
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw fileProblem(path, error);
    throw new Error(`the data folder ${dataDir} is in use by another process`, { cause: error });
  }
  return () => db.close();
}

/** SQLITE_BUSY: another connection has the lock. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}
