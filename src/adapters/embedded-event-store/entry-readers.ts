import { Worker } from "node:worker_threads";
import { endThread } from "../message-port/end-thread.ts";
import { Outbox } from "../message-port/outbox.ts";
import type { Sequence } from "./positions.ts";
import type { Answer } from "./protocol.ts";

/** A read of the entry that stands at a known place; its answer is `StreamRows`, of one row or none. */
export interface PlacedRead {
  readonly request: number;
  /** Whose entry it is: nobody else's is told. */
  readonly stream: string;
  readonly sequence: Sequence;
}

const mostThreads = 4;
/** To wake a thread for fewer costs more than it saves. */
const fewestReads = 8;

/**
 * Threads that read entries at known places, made when they are first needed. A page of old entries is as many reads
 * from the disk: several wait for it at once, and none of them is the thread that commits.
 */
export class EntryReaders {
  readonly #path: string;
  readonly #onAnswers: (answers: readonly Answer[]) => void;
  readonly #onDeath: (error: Error) => void;
  readonly #threads: Worker[] = [];
  readonly #reads = new Outbox<PlacedRead>((reads) => this.#share(reads));

  /** `path`: the log's file. `onDeath` is told when a thread cannot go on: its reads are never answered. */
  constructor(path: string, onAnswers: (answers: readonly Answer[]) => void, onDeath: (error: Error) => void) {
    this.#path = path;
    this.#onAnswers = onAnswers;
    this.#onDeath = onDeath;
  }

  /** Sends a read with the others of this turn, shared among the threads. */
  send(read: PlacedRead): void {
    this.#reads.add(read);
  }

  /** Answers what was sent; resolves when the threads have let go of the log. Nothing may be sent any more. */
  async close(): Promise<void> {
    this.#reads.flush();
    await Promise.all(this.#threads.map((thread) => endThread(thread, "stop")));
  }

  #share(reads: readonly PlacedRead[]): void {
    const share = Math.max(fewestReads, Math.ceil(reads.length / mostThreads));
    for (let at = 0; at < reads.length; at += share) {
      const thread = (this.#threads[at / share] ??= this.#started());
      thread.postMessage(reads.slice(at, at + share));
    }
  }

  #started(): Worker {
    const thread = new Worker(new URL("./entry-thread.ts", import.meta.url), { workerData: this.#path });
    thread.on("message", this.#onAnswers);
    thread.on("error", this.#onDeath);
    return thread;
  }
}
