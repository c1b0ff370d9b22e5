import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

/** Pages of the write-ahead log (4 KiB each) from which on they are moved, and moved at once. */
interface Limits {
  readonly enough: number;
  readonly tooMany: number;
}

/**
 * Moves what was committed from the write-ahead log into the file, in a thread of its own: a page that
 * is written often then moves once, and no query waits for the disk. The log begins anew where nothing
 * was committed meanwhile.
 */
export class Checkpoints {
  readonly #file: string;
  readonly #limits: Limits;
  readonly #pages: StatementSync;
  readonly #move: StatementSync;
  #thread: Worker | undefined;
  #moving = false;

  /** `database`: the connection that writes to `file`. */
  constructor(file: string, database: DatabaseSync, limits: Limits = { enough: 16_000, tooMany: 64_000 }) {
    this.#file = file;
    this.#limits = limits;
    database.exec("PRAGMA wal_autocheckpoint = 0");
    this.#pages = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#move = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Call after each commit. */
  committed(): void {
    const { log, checkpointed } = this.#pages.get() as { log: number; checkpointed: number };
    if (log >= this.#limits.tooMany) this.#move.get();
    else if (log - checkpointed >= this.#limits.enough && !this.#moving) this.#begin();
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #begin(): void {
    this.#moving = true;
    this.#thread ??= this.#start();
    this.#thread.postMessage(null);
  }

  #start(): Worker {
    const thread = new Worker(new URL("./checkpoint-thread.ts", import.meta.url), { workerData: this.#file });
    thread.unref();
    thread.on("message", () => { this.#moving = false; });
    // Without it, all is moved here once there is too much.
    thread.on("error", () => undefined);
    return thread;
  }
}
