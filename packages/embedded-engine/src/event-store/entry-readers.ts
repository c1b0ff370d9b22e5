import type { Worker } from "node:worker_threads";
import { endThread, newThread } from "../../../../src/kernel/threads/threads.ts";
import { TurnBatcher } from "../../../../src/kernel/threads/turns.ts";
import type { Sequence } from "./positions.ts";
import { noRows, type RequestAnswer } from "./protocol.ts";

/** A read of the entry at a known sequence; the answer is `StreamRows` of one row or none. */
export interface PlacedRead {
  readonly request: number;
  /** An entry of another stream is not returned. */
  readonly stream: string;
  readonly sequence: Sequence;
}

interface Reader {
  readonly thread: Worker;
  readonly requests: Set<number>;
}

const mostThreads = 4;
/** Waking a thread for fewer costs more than it saves. */
const fewestReads = 8;

/** Threads that read entries at known sequences: several wait for the disk at once, and the log thread does not. */
export class EntryReaders {
  readonly #path: string;
  readonly #onAnswers: (answers: readonly RequestAnswer[]) => void;
  readonly #readers = new Map<number, Reader>();
  readonly #reads = new TurnBatcher<PlacedRead>((reads) => this.#share(reads));

  /** `path`: the log's file. Reads of a thread that dies or cannot start return no row. */
  constructor(path: string, onAnswers: (answers: readonly RequestAnswer[]) => void) {
    this.#path = path;
    this.#onAnswers = onAnswers;
  }

  send(read: PlacedRead): void {
    this.#reads.add(read);
  }

  /** Answers pending reads, then ends the threads. No read may follow. */
  async close(): Promise<void> {
    this.#reads.flush();
    await Promise.all(Array.from(this.#readers.values(), ({ thread }) => endThread(thread, "stop")));
  }

  #share(reads: readonly PlacedRead[]): void {
    const share = Math.max(fewestReads, Math.ceil(reads.length / mostThreads));
    for (let at = 0; at < reads.length; at += share) {
      const part = reads.slice(at, at + share);
      const reader = this.#readers.get(at / share) ?? this.#started(at / share);
      if (reader) {
        for (const { request } of part) reader.requests.add(request);
        reader.thread.postMessage(part);
      } else this.#leaveUnread(part.map(({ request }) => request));
    }
  }

  #started(index: number): Reader | null {
    const script = new URL("./entry-thread.ts", import.meta.url);
    const thread = newThread(script, { name: "entries", workerData: this.#path });
    if (!thread) return null;
    const reader = { thread, requests: new Set<number>() };
    thread.on("message", (answers: readonly RequestAnswer[]) => {
      for (const { request } of answers) reader.requests.delete(request);
      this.#onAnswers(answers);
    });
    // An error, such as a lack of descriptors, ends the thread; the next reads start another.
    thread.on("error", () => {
      this.#readers.delete(index);
      this.#leaveUnread([...reader.requests]);
    });
    this.#readers.set(index, reader);
    return reader;
  }

  #leaveUnread(requests: readonly number[]): void {
    this.#onAnswers(requests.map((request) => ({ kind: "answer", request, result: noRows })));
  }
}
