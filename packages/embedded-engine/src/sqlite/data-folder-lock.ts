import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder, fileProblem, inFile } from "../../../../src/kernel/files.ts";

/** Holds a data folder until the returned function is called or the process ends. Throws if it is held already. */
export function lockDataFolder(dataDir: string): () => void {
  makeFolder(dataDir);
  // The name dates from releases that locked the log alone.
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

/** SQLITE_BUSY. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}
