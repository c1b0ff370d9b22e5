import { events } from "../../projections/events/events.ts";
import { project } from "../../projections/index.ts";
import { categoryOf } from "../kernel/domain/streams.ts";
import type { LogEntry, UnreadableEntry } from "../kernel/ports/event-store.ts";
import type { ReadModels, Change } from "../kernel/ports/read-models.ts";

const eventsPerQuery = 100;

/** The changes of an entry. An entry counts as unreadable if a projection fails on it. */
export function changesOf(entry: LogEntry): readonly Change[] | UnreadableEntry {
  if (entry.unreadable !== undefined) return entry;
  try {
    return project(entry);
  } catch (error) {
    const { stream, revision, position, id, type } = entry;
    return { stream, revision, position, id, type, unreadable: `not projected: ${String(error)}`, newer: false };
  }
}

/** The id of the event whose stream has the entry. */
export function eventIdIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || categoryOf(entry.stream) !== "event") return undefined;
  return (entry.data as { readonly eventId?: string } | null)?.eventId;
}

/** Leaves out entries whose event's first entry is gone: they would decrement counters that were never incremented. */
export class OrphanedEntries {
  readonly #readModels: Pick<ReadModels, "find">;
  /** Events whose first entry is known, from this batch or the read models. */
  readonly #begun = new Set<string>();

  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  /** Call it with the entries of the batch in order. */
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

  async #unknown(eventIds: readonly string[]): Promise<ReadonlySet<string | undefined>> {
    for (let at = 0; at < eventIds.length; at += eventsPerQuery) {
      const anyOf = { field: events.key, values: eventIds.slice(at, at + eventsPerQuery) };
      const order = { field: events.key, descending: false };
      const found = await this.#readModels.find({ collection: events.name, anyOf, order, limit: eventsPerQuery });
      for (const document of found) this.#begun.add(document[events.key] as string);
    }
    return new Set(eventIds.filter((eventId) => !this.#begun.has(eventId)));
  }
}
