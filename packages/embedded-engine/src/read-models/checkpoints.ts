import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { newThread } from "../../../../src/kernel/threads/threads.ts";
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
  readonly #onAnomaly: (error: unknown) => void;
  readonly #pages: StatementSync;
  #thread: Worker | undefined;
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
    this.#onAnomaly = onAnomaly;
    database.exec("PRAGMA wal_autocheckpoint = 0");
    this.#pages = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  committed(): void {
    const { log, checkpointed } = this.#pages.get() as { log: number; checkpointed: number };
    const { piece, anew, tooMany } = this.#limits;
    if (log >= tooMany || (this.#moved && log >= anew)) moveWriteAheadLog(this.#database, this.#path);
    else if (log - checkpointed >= piece && !this.#moving) this.#begin();
    this.#moved = false;
  }

  async end(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** Call after closing all connections: closing any descriptor of a file drops SQLite's locks on it. */
  close(): void {
    closeSync(this.#descriptor);
  }

  #begin(): void {
    this.#thread ??= this.#start();
    if (!this.#thread) return;
    this.#moving = true;
    this.#thread.postMessage(null);
  }

  /** Undefined if the system gives no thread: a later commit tries again. */
  #start(): Worker | undefined {
    const workerData = { path: this.#path, descriptor: this.#descriptor } satisfies MovedFile;
    const thread = newThread(new URL("./checkpoint-thread.ts", import.meta.url), { name: "checkpoint", workerData });
    if (!thread) return undefined;
    thread.unref();
    thread.on("message", () => {
      this.#moving = false;
      this.#moved = true;
    });
    thread.on("error", (error) => {
      this.#thread = undefined;
      this.#moving = false;
      this.#onAnomaly(error);
    });
    return thread;
  }
}
