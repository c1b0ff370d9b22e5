import { leases } from "../../projections/due/due.ts";
import { events, type EventDocument } from "../../projections/events/events.ts";
import { replayedEvents, type ReplayedEventDocument } from "../../projections/events/replayed-events.ts";
import { messages, type MessageDocument } from "../../projections/messages/messages.ts";
import { remove, set } from "../../projections/projection.ts";
import {
  begunAgain, candidatesOf, hidden, hiddenMessage, isMessageTaken, isTaken, purges, purging, type PurgeDocument,
} from "../../projections/purges/purges.ts";
import { tenantOf } from "../kernel/domain/domain-event.ts";
import { categoryOf, streams } from "../kernel/domain/streams.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";
import { documentOf, everyDocument, pagesOf } from "../kernel/read-models/scans.ts";

const slice = 500;
const eventsPerQuery = 100;

interface PurgesParts {
  readonly readModels: Pick<ReadModels, "find" | "get"> & Pick<ReadModelWriter, "amend">;
  /** The events of quarantined streams stay, since their state is unknown. */
  readonly isQuarantined: (stream: string) => boolean;
}

interface Search {
  readonly pages: AsyncGenerator<readonly EventDocument[], void>;
  /** Messages without deliveries. */
  readonly messages: AsyncGenerator<readonly MessageDocument[], void>;
  /** Keys of leases by event: even a finished event may have attempts under way. */
  readonly leases: ReadonlyMap<string, readonly string[]>;
}

/**
 * Purges under way. Each takes the events that match at its position in the log, hides them in slices between batches,
 * and lets no later fact change them.
 */
export class Purges {
  readonly #parts: PurgesParts;
  #underWay: readonly PurgeDocument[] = [];
  readonly #searches = new Map<string, Search>();
  /** Events accepted again, under the id of a taken one, in the current batch. */
  readonly #begunAgain = new Set<string>();
  #turn = 0;

  constructor(parts: PurgesParts) {
    this.#parts = parts;
  }

  /** Reads the purges under way. Call it before the first {@link step}. */
  async load(): Promise<void> {
    this.#underWay = await everyDocument(this.#parts.readModels, purges);
  }

  /** Reads a purge again. Call it after one of its facts was applied. */
  async look(purgeId: string): Promise<void> {
    const purge = await documentOf(this.#parts.readModels, purges, purgeId);
    const others = this.#underWay.filter(({ id }) => id !== purgeId);
    this.#underWay = purge ? [...others, purge] : others;
    if (!purge) this.#searches.delete(purgeId);
  }

  get pending(): boolean {
    return this.#underWay.some(isPending);
  }

  /** Whether {@link changesBefore} must be called for an entry. */
  concerns(entry: LogEntry): boolean {
    if (this.#underWay.length === 0 || categoryOf(entry.stream) !== "event") return false;
    if (entry.unreadable !== undefined) return true;
    const tenantId = tenantOf(entry);
    return this.#underWay.some((purge) => purge.tenantId === tenantId);
  }

  /** The changes before those of an event's entry; null if a purge took the event. Call it entry by entry. */
  async changesBefore(entry: LogEntry, eventId: string): Promise<readonly Change[] | null> {
    if (this.#begunAgain.has(eventId)) return [];
    const { readModels } = this.#parts;
    const [event, taken] = await Promise.all([
      documentOf(readModels, events, eventId),
      documentOf(readModels, purging, eventId),
    ]);
    const inSight = event !== null && this.#underWay.some((purge) => purge.hiding && isTaken(purge, event));
    if (!inSight && !taken) return [];
    if (entry.type !== "EventAccepted") return null;
    this.#begunAgain.add(eventId);
    return inSight ? begunAgain(eventId, event, await this.#replayed([eventId])) : begunAgain(eventId, null, []);
  }

  /** Call it when a batch was applied. */
  applied(): void {
    this.#begunAgain.clear();
  }

  /** Does a part of the work, for each purge in turn. May be called again after it throws. */
  async step(): Promise<void> {
    const pending = this.#underWay.filter(isPending);
    const purge = pending[(this.#turn += 1) % pending.length];
    if (!purge) return;
    try {
      await (purge.hiding ? this.#hide(purge) : this.#forget(purge));
    } catch (error) {
      // The search starts again: its last page may not have been hidden.
      this.#searches.delete(purge.id);
      throw error;
    }
  }

  async #hide(purge: PurgeDocument): Promise<void> {
    const { readModels, isQuarantined } = this.#parts;
    const search = this.#searches.get(purge.id) ?? {
      pages: this.#search(purge), messages: this.#unmatched(purge), leases: await this.#leases(),
    };
    this.#searches.set(purge.id, search);
    const { value: page } = await search.pages.next();
    if (!page && (await this.#hideMessages(purge, search))) return;
    if (!page) {
      await readModels.amend([set(purges, purge.id, { hiding: false })]);
      this.#searches.delete(purge.id);
      await this.look(purge.id);
      return;
    }
    const taken = page.filter((event) => this.#fallsTo(purge, event) && !isQuarantined(streams.event(event.id)));
    if (taken.length === 0) return;
    const replayed = Map.groupBy(await this.#replayed(taken.map(({ id }) => id)), ({ eventId }) => eventId);
    await readModels.amend(taken.flatMap((event) =>
      hidden(event, purge, { leaseKeys: search.leases.get(event.id) ?? [], replayed: replayed.get(event.id) ?? [] })));
  }

  /** Hides a page of messages; false when none is left. */
  async #hideMessages(purge: PurgeDocument, search: Search): Promise<boolean> {
    const { value: page } = await search.messages.next();
    const taken = page?.filter((message) => isMessageTaken(purge, message)) ?? [];
    if (taken.length > 0) {
      await this.#parts.readModels.amend(taken.flatMap((message) => hiddenMessage(message, purge)));
    }
    return page !== undefined;
  }

  /** Whether this purge must hide the event: of several, the first does; in a rebuild a later one may be complete. */
  #fallsTo(purge: PurgeDocument, event: EventDocument): boolean {
    const isEarlier = ({ hiding, position }: PurgeDocument) => hiding && position < purge.position;
    return isTaken(purge, event) && !this.#underWay.some((other) => isEarlier(other) && isTaken(other, event));
  }

  async *#search(purge: PurgeDocument): AsyncGenerator<readonly EventDocument[], void> {
    for (const selection of candidatesOf(purge)) {
      yield* pagesOf(this.#parts.readModels, events, { ...selection, size: slice });
    }
  }

  #unmatched({ tenantId }: PurgeDocument): AsyncGenerator<readonly MessageDocument[], void> {
    return pagesOf(this.#parts.readModels, messages, { where: { tenantId, unmatched: true }, size: slice });
  }

  async #forget(purge: PurgeDocument): Promise<void> {
    const { readModels } = this.#parts;
    const order = { field: purging.key, descending: false };
    const where = { purgeId: purge.id };
    const found = await readModels.find({ collection: purging.name, where, order, limit: slice });
    const changes = found.map((document) => remove(purging, document[purging.key] as string));
    const isLast = found.length < slice;
    await readModels.amend(isLast ? [...changes, remove(purges, purge.id)] : changes);
    if (isLast) await this.look(purge.id);
  }

  async #replayed(eventIds: readonly string[]): Promise<readonly ReplayedEventDocument[]> {
    const found: ReplayedEventDocument[] = [];
    for (let at = 0; at < eventIds.length; at += eventsPerQuery) {
      const anyOf = { field: "eventId", values: eventIds.slice(at, at + eventsPerQuery) };
      found.push(...(await everyDocument(this.#parts.readModels, replayedEvents, { anyOf })));
    }
    return found;
  }

  async #leases(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = await everyDocument(this.#parts.readModels, leases);
    const byEvent = Map.groupBy(found, ({ eventId }) => eventId);
    return new Map([...byEvent].map(([eventId, of]) => [eventId, of.map(({ key }) => key)]));
  }
}

function isPending({ hiding, completed }: PurgeDocument): boolean {
  return hiding || completed;
}
