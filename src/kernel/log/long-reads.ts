import pLimit from "p-limit";
import type { LimitFunction } from "p-limit";
import { callerCheck } from "../callers/caller.ts";
import type { EventStore, LogEntry } from "../ports/event-store.ts";

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

/** Entries that are read at once: most streams have fewer, and so many are decoded in a few milliseconds. */
const pageEntries = 64;

/**
 * Reads a stream from its beginning, or with `backwards` from its end, page by page: however long it is, it neither
 * fills the memory nor keeps the log from others. `take` is called with each page, and may return false to end.
 * `asker`: the tenant for whom it is read, if it is read for one. Throws as `readStream` does, and CallerGone.
 */
export async function readPages(
  store: Pick<EventStore, "readStream">,
  stream: string,
  take: (page: readonly LogEntry[]) => boolean | void,
  { backwards = false, asker }: { readonly backwards?: boolean; readonly asker?: string } = {},
): Promise<void> {
  /** Resolves with where the next page begins, undefined where there is none. */
  const read = async (from: number | undefined) => {
    const begin = from === undefined ? {} : { from };
    const page = await store.readStream(stream, { ...begin, limit: pageEntries, ...(backwards && { backwards }) });
    const isLast = take(page) === false || page.length < pageEntries;
    const next = isLast ? -1 : page.at(-1)!.revision + (backwards ? -1 : 1);
    return next < 0 ? undefined : next;
  };
  let from = await read(backwards ? undefined : 0);
  if (from === undefined) return;
  const rest = async (turn: Turn) => {
    while (from !== undefined) {
      const next = from;
      from = await turn(() => read(next));
    }
  };
  await LongReads.of(store).run(asker ?? stream, rest);
}
