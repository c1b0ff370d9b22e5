import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { newThread } from "../../message-port/new-thread.ts";
import { moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";

/** Numbers of pages of the write-ahead log (4 KiB each). */
interface Limits {
  /** With so many to be moved the thread moves them. */
  readonly piece: number;
  /** Once the log has so many it is to begin anew: the rest is moved here as soon as the thread has moved a piece. */
  readonly anew: number;
  /** With so many all are moved here, whatever the thread has done. */
  readonly tooMany: number;
}

/** What the thread is started with. */
export interface MovedFile {
  readonly path: string;
  /** Of the file; stays open. */
  readonly descriptor: number;
}

/**
 * Moves what was committed from the write-ahead log into the file and syncs it, a little at a time and in a thread of
 * its own: no query waits for the disk, nor does anybody else's commit wait until much has been written. Only when all
 * has been moved does the log begin anew, so now and then the rest, which is little, is moved here.
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

  /** `database`: the connection that writes to the file at `path`. `onAnomaly`: told why the thread failed. */
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

  /** Call when all connections are closed: as any descriptor of a file is closed, SQLite loses its locks on it. */
  close(): void {
    closeSync(this.#descriptor);
  }

  #begin(): void {
    this.#thread ??= this.#start();
    if (!this.#thread) return;
    this.#moving = true;
    this.#thread.postMessage(null);
  }

  /** Undefined where the system gives no thread: another is asked for after a next commit. */
  #start(): Worker | undefined {
    const workerData = { path: this.#path, descriptor: this.#descriptor } satisfies MovedFile;
    const thread = newThread(new URL("./checkpoint-thread.ts", import.meta.url), { name: "checkpoint", workerData });
    if (!thread) return undefined;
    thread.unref();
    thread.on("message", () => {
      this.#moving = false;
      this.#moved = true;
    });
    // That ends it. What it left, another one moves after a next commit.
    thread.on("error", (error) => {
      this.#thread = undefined;
      this.#moving = false;
      this.#onAnomaly(error);
    });
    return thread;
  }
}
