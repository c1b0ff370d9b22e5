import { OccasionalThread } from "../../../../src/kernel/threads/occasional-thread.ts";
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

/** Reads, or "stop", at which the thread ends once all before are answered. */
export type ReadsMessage = readonly PlacedRead[] | "stop";

interface Reader {
  readonly thread: OccasionalThread<ReadsMessage, readonly RequestAnswer[]>;
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
    await Promise.all(Array.from(this.#readers.values(), ({ thread }) => thread.end("stop")));
  }

  #share(reads: readonly PlacedRead[]): void {
    const share = Math.max(fewestReads, Math.ceil(reads.length / mostThreads));
    for (let at = 0; at < reads.length; at += share) {
      const part = reads.slice(at, at + share);
      const reader = this.#readers.get(at / share) ?? this.#added(at / share);
      for (const { request } of part) reader.requests.add(request);
      if (!reader.thread.post(part)) this.#leaveUnread(reader);
    }
  }

  #added(index: number): Reader {
    const requests = new Set<number>();
    const script = new URL("./entry-thread.ts", import.meta.url);
    const thread: Reader["thread"] = new OccasionalThread(script, { name: "entries", workerData: this.#path }, {
      onAnswer: (answers) => {
        for (const { request } of answers) requests.delete(request);
        this.#onAnswers(answers);
        if (requests.size === 0) thread.rest();
      },
      // An error, such as a lack of descriptors, ends the thread.
      onLost: () => this.#leaveUnread(reader),
    });
    const reader = { thread, requests };
    this.#readers.set(index, reader);
    return reader;
  }

  #leaveUnread({ requests }: Reader): void {
    this.#onAnswers(Array.from(requests, (request) => ({ kind: "answer", request, result: noRows })));
    requests.clear();
  }
}
