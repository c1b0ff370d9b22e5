import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { OccasionalThread } from "../../../../src/kernel/threads/occasional-thread.ts";
import { moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";

/** In pages of the write-ahead log (4 KiB each). */
interface Limits {
  /** Unmoved pages at which the thread starts. */
  readonly piece: number;
  /** Pages at which the caller moves the rest after the thread's next piece, so that the log restarts. */
  readonly anew: number;
  /** Pages at which the caller moves all at once. */
  readonly tooMany: number;
}

/** Start data of the thread. */
export interface MovedFile {
  readonly path: string;
  readonly descriptor: number;
}

/**
 * Checkpoints a few pages at a time in a thread, so that no query or other commit waits. The log restarts only when all
 * of it is moved, so the committing thread sometimes moves the small rest.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #descriptor: number;
  readonly #limits: Limits;
  readonly #pages: StatementSync;
  readonly #thread: OccasionalThread<null, null>;
  #moving = false;
  #moved = false;

  /** `database`: the writing connection to `path`. `onAnomaly`: gets the thread's error. */
  constructor(
    path: string,
    database: DatabaseSync,
    onAnomaly: (error: unknown) => void,
    limits: Limits = { piece: 2_000, anew: 8_000, tooMany: 64_000 },
  ) {
    this.#path = path;
    this.#database = database;
    this.#descriptor = openSync(path, "r");
    this.#limits = limits;
    const workerData = { path, descriptor: this.#descriptor } satisfies MovedFile;
    const script = new URL("./checkpoint-thread.ts", import.meta.url);
    this.#thread = new OccasionalThread(script, { name: "checkpoint", workerData }, {
      onAnswer: () => {
        this.#moving = false;
        this.#moved = true;
        this.#thread.rest();
      },
      onLost: (error) => {
        this.#moving = false;
        onAnomaly(error);
      },
    });
    database.exec("PRAGMA wal_autocheckpoint = 0");
    this.#pages = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  committed(): void {
    const { log, checkpointed } = this.#pages.get() as { log: number; checkpointed: number };
    const { piece, anew, tooMany } = this.#limits;
    if (log >= tooMany || (this.#moved && log >= anew)) moveWriteAheadLog(this.#database, this.#path);
    // A later commit tries again if the system gives no thread.
    else if (log - checkpointed >= piece && !this.#moving) this.#moving = this.#thread.post(null);
    this.#moved = false;
  }

  async end(): Promise<void> {
    await this.#thread.end();
  }

  /** Call after closing all connections: closing any descriptor of a file drops SQLite's locks on it. */
  close(): void {
    closeSync(this.#descriptor);
  }
}
