import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Holds a data folder for this process alone. The lock is SQLite's own, on a file of its own: the operating
 * system releases it when the process ends, however it ends.
 */
export class DataFolderLock {
  readonly #db: DatabaseSync;

  /** Throws when another process, or another store of this one, has the folder. */
  constructor(dataDir: string) {
    this.#db = new DatabaseSync(join(dataDir, "log.lock"), { timeout: 0 });
    try {
      this.#db.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      this.#db.close();
      throw new Error(`the data folder ${dataDir} is in use by another process`, { cause: error });
    }
  }

  release(): void {
    this.#db.close();
  }
}
