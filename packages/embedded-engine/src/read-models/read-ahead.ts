import type { SQLOutputValue } from "node:sqlite";
import { OccasionalThread } from "../../../../src/kernel/threads/occasional-thread.ts";

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
  readonly #wanted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #threads: readonly OccasionalThread<Lookups>[];

  constructor(path: string) {
    const workerData = { path, wanted: this.#wanted } satisfies AheadOf;
    const script = new URL("./read-ahead-thread.ts", import.meta.url);
    // An error ends a thread; the next lookups start another.
    const owner = { onAnswer: () => undefined, onLost: () => undefined };
    this.#threads = Array.from({ length: threads }, () =>
      new OccasionalThread<Lookups>(script, { name: "read-ahead", workerData }, owner));
  }

  /** Begins these lookups and cancels earlier ones. */
  begin(sql: string, keys: readonly SQLOutputValue[]): void {
    const number = Atomics.add(this.#wanted, 0, 1) + 1;
    for (const [index, thread] of this.#threads.slice(0, keys.length).entries()) {
      thread.post({ number, sql, keys: keys.filter((_, at) => at % threads === index) });
      // Lookups that a thread does not come to change no answer.
      thread.rest();
    }
  }

  end(): void {
    Atomics.add(this.#wanted, 0, 1);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
