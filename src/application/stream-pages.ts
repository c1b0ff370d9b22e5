import type { EventStore, LogEntry } from "../ports/event-store.ts";
import { LongReads } from "./long-reads.ts";

/** Entries that are read at once: most streams have fewer, and so many are decoded in a few milliseconds. */
const pageEntries = 64;

/**
 * Reads a stream from its beginning, page by page: however long it is, it neither fills the memory nor keeps the log
 * from others. `take` is called with each page, and may return false to end. Throws as `readStream` does.
 */
export async function readPages(
  store: Pick<EventStore, "readStream">, stream: string, take: (page: readonly LogEntry[]) => boolean | void,
): Promise<void> {
  /** Resolves with where the next page begins, undefined where there is none. */
  const read = async (from: number) => {
    const page = await store.readStream(stream, { from, limit: pageEntries });
    const isLast = take(page) === false || page.length < pageEntries;
    return isLast ? undefined : page.at(-1)!.revision + 1;
  };
  let from = await read(0);
  if (from === undefined) return;
  await LongReads.of(store).run(stream, async (turn) => {
    while (from !== undefined) {
      const next = from;
      from = await turn(() => read(next));
    }
  });
}
