import { open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { endUnsynced } from "../../../../src/kernel/files.ts";
import { Checkpoints } from "./checkpoints.ts";
import { openDatabase } from "./database.ts";
import { ReadAhead } from "./read-ahead.ts";
import { StoredReadModels } from "./stored-read-models.ts";
import { Writer } from "./writer.ts";

/** The file of the read models, with its connections and threads in this process. */
export class OpenFile {
  readonly toWrite: DatabaseSync;
  readonly checkpoints: Checkpoints;
  readonly #path: string;
  readonly #toRead: DatabaseSync;
  readonly #readAhead: ReadAhead;
  #stored: StoredReadModels;
  #writer: Writer;

  /** Makes the file where there is none. `onAnomaly`: see {@link Checkpoints}, `onDamage`: {@link openDatabase}. */
  constructor(path: string, onAnomaly: (error: unknown) => void, onDamage: (error: unknown) => void) {
    this.#path = path;
    this.toWrite = openDatabase(path, onDamage);
    this.#toRead = new DatabaseSync(path, { readOnly: true });
    this.#readAhead = new ReadAhead(path);
    this.checkpoints = new Checkpoints(path, this.toWrite, onAnomaly);
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.toWrite, this.#stored.definitions.values());
  }

  /** Answers questions. */
  get stored(): StoredReadModels {
    return this.#stored;
  }

  /** Writes changes. */
  get writer(): Writer {
    return this.#writer;
  }

  /** Call when the collections have changed. */
  load(): void {
    this.#stored = new StoredReadModels(this.#toRead, this.#readAhead);
    this.#writer = new Writer(this.toWrite, this.#stored.definitions.values());
  }

  /** Resolves when all that was committed is safe from a loss of power. */
  async sync(): Promise<void> {
    const log = `${this.#path}-wal`;
    const handle = await open(log);
    try {
      await handle.sync().catch((error: unknown) => endUnsynced(log, error));
    } finally {
      await handle.close();
    }
  }

  /** Ends the threads and closes the connections. The file may be removed then. */
  async close(): Promise<void> {
    await Promise.all([this.checkpoints.end(), this.#readAhead.close()]);
    this.#stored.close();
    this.toWrite.close();
    this.checkpoints.close();
  }
}
