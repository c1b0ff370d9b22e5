import pLimit, { type LimitFunction } from "p-limit";
import { refuse } from "../domain/refusal.ts";
import type { EventStore } from "../ports/event-store.ts";

/** Pages that are read at once: those that come in together are decoded in one go, while everybody else waits. */
const pagesAtOnce = 8;
/** Reads of one tenant that go on at once, each with one page in the queue. */
const readsAtOnce = 4;
/** Reads of one tenant that go on or wait before the next is refused. */
const mostReads = 64;

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
   * Runs a read for a tenant, as one of the few that a tenant may have at once. Throws a Refusal where too many wait.
   */
  asked<Result>(tenantId: string, read: (turn: Turn) => Promise<Result>): Promise<Result> {
    if ((this.#readers.get(tenantId)?.reads ?? 0) >= mostReads) {
      refuse("unavailable", "too many events with a long history are being read; try again");
    }
    return this.run(tenantId, read);
  }

  /**
   * Runs a read, however many wait: for callers that themselves bound how much they read. `name`: the tenant's, or the
   * stream's where it is not read for a tenant.
   */
  async run<Result>(name: string, read: (turn: Turn) => Promise<Result>): Promise<Result> {
    const reader = this.#readers.get(name) ?? { limit: pLimit(readsAtOnce), reads: 0 };
    this.#readers.set(name, reader);
    reader.reads += 1;
    try {
      return await reader.limit(() => read((page) => this.#pages(page)));
    } finally {
      reader.reads -= 1;
      if (reader.reads === 0) this.#readers.delete(name);
    }
  }
}
