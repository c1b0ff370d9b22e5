import type { SQLOutputValue } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { newThread } from "../../message-port/new-thread.ts";

/** What a thread is started with. */
export interface AheadOf {
  readonly path: string;
  /** One number: of the lookups that are wanted now. */
  readonly wanted: Int32Array;
}

/** Lookups that somebody is about to make, in the order in which they will. */
export interface Lookups {
  readonly number: number;
  readonly sql: string;
  /** For the one placeholder of `sql`. */
  readonly keys: readonly SQLOutputValue[];
}

const threads = 3;

/**
 * Makes lookups before the one who needs their answers does, in threads that are made when they are first needed: then
 * what these read is in memory, and instead of one read from the disk several are waited for at once. It answers
 * nothing, so whatever it does, or fails to do, changes no answer.
 */
export class ReadAhead {
  readonly #path: string;
  readonly #wanted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #threads = new Map<number, Worker>();

  /** `path`: the file of the read models. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Begins with the first lookups; those begun with before are wanted no longer. */
  begin(sql: string, keys: readonly SQLOutputValue[]): void {
    const number = Atomics.add(this.#wanted, 0, 1) + 1;
    for (let index = 0; index < Math.min(threads, keys.length); index += 1) {
      const thread = this.#threads.get(index) ?? this.#start(index);
      const share = keys.filter((_, at) => at % threads === index);
      thread?.postMessage({ number, sql, keys: share } satisfies Lookups);
    }
  }

  /** The lookups were made: none is wanted any more. */
  end(): void {
    Atomics.add(this.#wanted, 0, 1);
  }

  /** Ends the threads; call it last. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#threads.values(), (thread) => thread.terminate()));
  }

  /** Null where the system gives no thread. */
  #start(index: number): Worker | null {
    const workerData = { path: this.#path, wanted: this.#wanted } satisfies AheadOf;
    const thread = newThread(new URL("./read-ahead-thread.ts", import.meta.url), { name: "read-ahead", workerData });
    if (!thread) return null;
    thread.unref();
    // That ends it; the next lookups make another.
    thread.on("error", () => this.#threads.delete(index));
    this.#threads.set(index, thread);
    return thread;
  }
}
