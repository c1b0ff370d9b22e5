import { open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { endUnsynced } from "../../../../src/kernel/files.ts";
import { Checkpoints } from "./checkpoints.ts";
import { openDatabase } from "./database.ts";
import { ReadAhead } from "./read-ahead.ts";
import { StoredReadModels } from "./stored-read-models.ts";
import { Writer } from "./writer.ts";

/** The read models' file with its connections and threads. */
export class OpenFile {
  readonly toWrite: DatabaseSync;
  readonly checkpoints: Checkpoints;
  readonly #path: string;
  readonly #toRead: DatabaseSync;
  readonly #readAhead: ReadAhead;
  #stored: StoredReadModels;
  #writer: Writer;

  /** Creates a missing file. `onAnomaly`: see {@link Checkpoints}; `onDamage`: see {@link openDatabase}. */
  constructor(path: string, onAnomaly: (error: unknown) => void, onDamage: (error: unknown) => void) {
    this.#path = path;
    this.toWrite = openDatabase(path, onDamage);
    this.#toRead = new DatabaseSync(path, { readOnly: true });
    this.#readAhead = new ReadAhead(path);
    this.checkpoints = new Checkpoints(path, this.toWrite, onAnomaly);
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.toWrite, this.#stored.definitions.values());
  }

  get stored(): StoredReadModels {
    return this.#stored;
  }

  get writer(): Writer {
    return this.#writer;
  }

  /** Call after a change of the collections. */
  load(): void {
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.toWrite, this.#stored.definitions.values());
  }

  /** Resolves when all commits survive a loss of power. */
  async sync(): Promise<void> {
    const log = `${this.#path}-wal`;
    const handle = await open(log);
    try {
      await handle.sync().catch((error: unknown) => endUnsynced(log, error));
    } finally {
      await handle.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.checkpoints.end(), this.#readAhead.close()]);
    this.#stored.close();
    this.toWrite.close();
    this.checkpoints.close();
  }
}
