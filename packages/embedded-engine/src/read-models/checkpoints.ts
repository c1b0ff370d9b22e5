import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { newThread } from "../../../../src/kernel/threads/threads.ts";
import { moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";

/** Numbers of pages of the write-ahead log (4 KiB each). */
interface Limits {
  /** Once so many are to be moved, the thread moves them. */
  readonly piece: number;
  /** Once the log has so many it is to start over: after the thread's next piece, the caller moves the rest. */
  readonly anew: number;
  /** Once the log has so many, the caller moves all of them. */
  readonly tooMany: number;
}

/** The start data of the thread. */
export interface MovedFile {
  readonly path: string;
  /** Of the file; stays open. */
  readonly descriptor: number;
}

/**
 * Moves committed pages from the write-ahead log into the file and syncs it, a few at a time, in its own thread: no
 * query waits for the disk, and no commit to another file waits for a large sync. The log starts over only when all of
 * it has been moved, so now and then the thread that commits moves the rest, which is little.
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
  /** A piece has been moved since the last commit. */
  #moved = false;

  /** `database`: the connection that writes to the file at `path`. `onAnomaly`: gets the error of the thread. */
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

  /** Call after each commit. */
  committed(): void {
    const { log, checkpointed } = this.#pages.get() as { log: number; checkpointed: number };
    const { piece, anew, tooMany } = this.#limits;
    if (log >= tooMany || (this.#moved && log >= anew)) moveWriteAheadLog(this.#database, this.#path);
    else if (log - checkpointed >= piece && !this.#moving) this.#begin();
    this.#moved = false;
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** Call when all connections are closed: closing any descriptor of a file drops SQLite's locks on it. */
  close(): void {
    closeSync(this.#descriptor);
  }

  #begin(): void {
    this.#thread ??= this.#start();
    if (!this.#thread) return;
    this.#moving = true;
    this.#thread.postMessage(null);
  }

  /** Undefined where the system gives no thread: a later commit tries again. */
  #start(): Worker | undefined {
    const workerData = { path: this.#path, descriptor: this.#descriptor } satisfies MovedFile;
    const thread = newThread(new URL("./checkpoint-thread.ts", import.meta.url), { name: "checkpoint", workerData });
    if (!thread) return undefined;
    thread.unref();
    thread.on("message", () => {
      this.#moving = false;
      this.#moved = true;
    });
    // An error ends the thread. After a later commit another one moves the rest.
    thread.on("error", (error) => {
      this.#thread = undefined;
      this.#moving = false;
      this.#onAnomaly(error);
    });
    return thread;
  }
}
