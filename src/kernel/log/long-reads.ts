import pLimit, { type LimitFunction } from "p-limit";
import { callerCheck } from "../callers/caller-gone.ts";
import type { EventStore } from "../ports/event-store.ts";

/** Pages that are read at once: those that come in together are decoded in one go, while everybody else waits. */
const pagesAtOnce = 8;
/** Reads of one tenant that go on at once, each with one page in the queue. */
const readsAtOnce = 4;

/** Runs the read of one page when it is its turn. */
export type Turn = <Result>(read: () => Promise<Result>) => Promise<Result>;

interface Reader {
  readonly limit: LimitFunction;
  /** Its reads that go on or wait. */
  reads: number;
}

/**
 * Bounds the reads that take more than a page. They take turns page by page; as no reader has more than a few pages in
 * the queue, none waits long for another, however much that one reads.
 */
export class LongReads {
  static readonly #all = new WeakMap<object, LongReads>();
  readonly #pages = pLimit(pagesAtOnce);
  readonly #readers = new Map<string, Reader>();

  /** The one that bounds the reads of this store. */
  static of(store: Pick<EventStore, "readStream">): LongReads {
    const reads = this.#all.get(store) ?? new LongReads();
    this.#all.set(store, reads);
    return reads;
  }

  /**
   * Runs a read as one of the few that a tenant may have at once. `name`: the tenant's, or the stream's where it is not
   * read for a tenant. How many wait is bounded before: by the admission of requests, and by the workers' own limits.
   * Between pages it ends with CallerGone once the caller has gone.
   */
  async run<Result>(name: string, read: (turn: Turn) => Promise<Result>): Promise<Result> {
    const reader = this.#readers.get(name) ?? { limit: pLimit(readsAtOnce), reads: 0 };
    this.#readers.set(name, reader);
    reader.reads += 1;
    const requireCaller = callerCheck();
    const turn: Turn = (page) => this.#pages(() => {
      requireCaller();
      return page();
    });
    try {
      return await reader.limit(() => {
        requireCaller();
        return read(turn);
      });
    } finally {
      reader.reads -= 1;
      if (reader.reads === 0) this.#readers.delete(name);
    }
  }
}
