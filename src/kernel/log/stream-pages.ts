import type { EventStore, LogEntry } from "../ports/event-store.ts";
import { LongReads, type Turn } from "./long-reads.ts";

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
