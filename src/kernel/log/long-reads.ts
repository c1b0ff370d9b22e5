import pLimit from "p-limit";
import type { LimitFunction } from "p-limit";
import { callerCheck } from "../callers/caller.ts";
import type { EventStore, LogEntry } from "../ports/event-store.ts";

const pagesAtOnce = 8;
const readsAtOnce = 4;

/** Runs the read of one page when it is its turn. */
export type Turn = <Result>(read: () => Promise<Result>) => Promise<Result>;

interface Reader {
  readonly limit: LimitFunction;
  reads: number;
}

/** Bounds the reads of more than a page: they take turns page by page, so that none waits long for another. */
export class LongReads {
  static readonly #all = new WeakMap<object, LongReads>();
  readonly #pages = pLimit(pagesAtOnce);
  readonly #readers = new Map<string, Reader>();

  static of(store: Pick<EventStore, "readStream">): LongReads {
    const reads = this.#all.get(store) ?? new LongReads();
    this.#all.set(store, reads);
    return reads;
  }

  /** Runs a read as one of the few that `name` (a tenant, or a stream) may have at once. Ends with CallerGone. */
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

/** Most streams have fewer entries, and so many are decoded in a few milliseconds. */
const pageEntries = 64;

/** Reads a stream in pages, for the tenant `asker` if given, until `take` returns false. Throws CallerGone, too. */
export async function readPages(
  store: Pick<EventStore, "readStream">,
  stream: string,
  take: (page: readonly LogEntry[]) => boolean | void,
  { from: first, backwards = false, asker }: {
    readonly from?: number; readonly backwards?: boolean; readonly asker?: string;
  } = {},
): Promise<void> {
  const read = async (from: number | undefined) => {
    const begin = from === undefined ? {} : { from };
    const page = await store.readStream(stream, { ...begin, limit: pageEntries, ...(backwards && { backwards }) });
    const isLast = take(page) === false || page.length < pageEntries;
    const next = isLast ? -1 : page.at(-1)!.revision + (backwards ? -1 : 1);
    return next < 0 ? undefined : next;
  };
  let from = await read(first ?? (backwards ? undefined : 0));
  if (from === undefined) return;
  const rest = async (turn: Turn) => {
    while (from !== undefined) {
      const next = from;
      from = await turn(() => read(next));
    }
  };
  await LongReads.of(store).run(asker ?? stream, rest);
}
