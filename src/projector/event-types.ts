import { LRUCache } from "lru-cache";
import { put } from "../../projections/projection.ts";
import {
  eventTypes, mostEventTypes, type EventTypeDocument, typedChange,
} from "../../projections/statistics/statistics.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels } from "../kernel/ports/read-models.ts";

const keptInMemory = 5_000;

interface Typed {
  readonly tenantId: string;
  readonly eventType?: string;
}

/** Counts events by type, for the first types of each tenant. */
export class EventTypes {
  readonly #readModels: Pick<ReadModels, "find">;
  readonly #types = new LRUCache<string, Set<string>>({ max: keptInMemory });

  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  /** Whether {@link changesOf} must be called for an entry. */
  concerns(entry: LogEntry): boolean {
    return entry.unreadable === undefined && (entry.data as Partial<Typed> | null)?.eventType !== undefined;
  }

  /** The changes to the counts of the entry's type. Call it in the order of the log. */
  async changesOf(entry: LogEntry): Promise<readonly Change[]> {
    if (entry.unreadable !== undefined) return [];
    const change = typedChange(entry.type, entry.data);
    if (!change) return [];
    const { tenantId, eventType = "" } = entry.data as Typed;
    const types = this.#types.get(tenantId) ?? (await this.#load(tenantId));
    if (types.has(eventType)) return [change];
    if (types.size >= mostEventTypes) return [];
    types.add(eventType);
    return [put(eventTypes, { key: `${tenantId}/${eventType}`, tenantId, eventType }), change];
  }

  async #load(tenantId: string): Promise<Set<string>> {
    const order = { field: eventTypes.key, descending: false };
    const where = { tenantId };
    const found = await this.#readModels.find({ collection: eventTypes.name, where, order, limit: mostEventTypes });
    const types = new Set((found as readonly EventTypeDocument[]).map(({ eventType }) => eventType));
    this.#types.set(tenantId, types);
    return types;
  }
}
