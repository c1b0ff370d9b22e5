import { quarantine } from "../../../projections/quarantine/quarantine.ts";
import type { EventStore } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";
import { pagesOf } from "../read-models/scans.ts";

const pageSize = 100;

/** Where streams that are quarantined are found, and read. */
export interface StreamSources {
  readonly store: Pick<EventStore, "readStream">;
  readonly readModels: Pick<ReadModels, "find">;
}

/** Whether only a newer release can read a stream of this category: the read models may lack its facts. */
export async function hasNewerStream({ store, readModels }: StreamSources, category: string): Promise<boolean> {
  // In ASCII the full stop follows the dash.
  const range = { field: quarantine.key, from: `${category}-`, to: `${category}.` };
  for await (const page of pagesOf(readModels, quarantine, { range, size: pageSize })) {
    for (const { stream, revision } of page.filter(({ newer }) => newer)) {
      const [entry] = await store.readStream(stream, { from: revision, limit: 1 });
      if (entry?.unreadable !== undefined && entry.newer) return true;
    }
  }
  return false;
}
