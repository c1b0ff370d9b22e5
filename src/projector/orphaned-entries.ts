import { events } from "../../projections/events/events.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { ReadModels } from "../kernel/ports/read-models.ts";
import { eventIdIn } from "./event-id-in.ts";

/** Events asked about at once. */
const together = 100;

/**
 * Finds, among entries read in order, orphaned entries: those of deleted events, whose first entry is no longer in the
 * log. Counting them would decrement counters that were never incremented. Use one for each batch.
 */
export class OrphanedEntries {
  readonly #readModels: Pick<ReadModels, "find">;
  /** Events known to have begun, by an entry of the batch or by an earlier one. */
  readonly #begun = new Set<string>();

  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  /** The next entries of the batch, without orphaned ones. */
  async without(entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
    const asked = new Set<string>();
    for (const entry of entries) {
      const eventId = eventIdIn(entry);
      if (eventId === undefined || this.#begun.has(eventId)) continue;
      (entry.type === "EventAccepted" ? this.#begun : asked).add(eventId);
    }
    const left = await this.#unknown([...asked]);
    return left.size === 0 ? entries : entries.filter((entry) => !left.has(eventIdIn(entry)));
  }

  /** The events that the read models do not know. */
  async #unknown(eventIds: readonly string[]): Promise<ReadonlySet<string | undefined>> {
    for (let at = 0; at < eventIds.length; at += together) {
      const anyOf = { field: events.key, values: eventIds.slice(at, at + together) };
      const order = { field: events.key, descending: false };
      const found = await this.#readModels.find({ collection: events.name, anyOf, order, limit: together });
      for (const document of found) this.#begun.add(document[events.key] as string);
    }
    return new Set(eventIds.filter((eventId) => !this.#begun.has(eventId)));
  }
}
