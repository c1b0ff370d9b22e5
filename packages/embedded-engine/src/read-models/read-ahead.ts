import type { SQLOutputValue } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { newThread } from "../../../../src/kernel/threads/threads.ts";

/** Start data of a thread. */
export interface AheadOf {
  readonly path: string;
  /** One value: the `number` of the lookups in demand. */
  readonly wanted: Int32Array;
}

/** The reading thread's next lookups, in order. */
export interface Lookups {
  readonly number: number;
  readonly sql: string;
  readonly keys: readonly SQLOutputValue[];
}

const threads = 3;

/** Makes lookups ahead of the reading thread, so that several disk reads run at once. Its failures change no answer. */
export class ReadAhead {
  readonly #path: string;
  readonly #wanted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #threads = new Map<number, Worker>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Begins these lookups and cancels earlier ones. */
  begin(sql: string, keys: readonly SQLOutputValue[]): void {
    const number = Atomics.add(this.#wanted, 0, 1) + 1;
    for (let index = 0; index < Math.min(threads, keys.length); index += 1) {
      const thread = this.#threads.get(index) ?? this.#start(index);
      const share = keys.filter((_, at) => at % threads === index);
      thread?.postMessage({ number, sql, keys: share } satisfies Lookups);
    }
  }

  end(): void {
    Atomics.add(this.#wanted, 0, 1);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#threads.values(), (thread) => thread.terminate()));
  }

  #start(index: number): Worker | null {
    const workerData = { path: this.#path, wanted: this.#wanted } satisfies AheadOf;
    const thread = newThread(new URL("./read-ahead-thread.ts", import.meta.url), { name: "read-ahead", workerData });
    if (!thread) return null;
    thread.unref();
    // An error ends the thread; the next lookups start another.
    thread.on("error", () => this.#threads.delete(index));
    this.#threads.set(index, thread);
    return thread;
  }
}
