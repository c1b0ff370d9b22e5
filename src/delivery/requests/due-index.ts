import { destinations } from "../../../projections/destinations/destinations.ts";
import {
  leases, ordered, waiting, waitingTests, type LeaseDocument, type OrderedDocument, type WaitingDocument,
} from "../../../projections/due/due.ts";
import { accepted, events, eventsOrdered } from "../../../projections/events/events.ts";
import { quarantine } from "../../../projections/quarantine/quarantine.ts";
import { destinationStatus } from "../../features/destinations/facts.ts";
import { acceptedMsOf } from "../../kernel/domain/event-id.ts";
import { slotCount } from "../../kernel/domain/ordering.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { ReadModels, Selection } from "../../kernel/ports/read-models.ts";
import { documentOf, everyDocument, everyValue, pagesOf } from "../../kernel/read-models/scans.ts";

/** An event that waits for an attempt. */
export interface WaitingWork {
  readonly eventId: string;
  readonly dueAt: string;
}

/** A destination, and the tenant it is of. */
export interface WorkOf {
  readonly destinationId: string;
  readonly tenantId: string;
}

const catchUpMs = 5_000;
/** Destinations queried at once, so that other queries have their turn. */
const askedAtOnce = 8;
/** An event accepted this long after now was accepted by a clock that has been set back since. */
const aheadMs = 10_000;
/** Events looked at for one without a place in the order. */
const unplacedAtOnce = 64;
const pending = { collection: events.name, where: { status: "Pending" } } as const;

/** Knows due work and attempts under way, a moment behind the log. All queries throw ReadModelsUnavailable. */
export class DueIndex {
  readonly #readModels: ReadModels;

  constructor(readModels: ReadModels) {
    this.#readModels = readModels;
  }

  async cover(position: Position): Promise<void> {
    if (!(await this.#readModels.caughtUp(position, catchUpMs))) throw new Error("the due index is behind");
  }

  /** Work of a destination that is due by `until`, and not before `from` (ISO 8601 UTC), longest due first. */
  async due(of: WorkOf, until: string, limit: number, from?: string): Promise<readonly WaitingWork[]> {
    const [fresh, retries] = await Promise.all([
      this.#pending(of, limit, from),
      this.#retries(of, { ...(from !== undefined && { from }), to: until }, "dueAt", limit),
    ]);
    return merged(fresh, retries, limit);
  }

  /** The candidates for the next probe: events accepted first, or after `after`, among those due at `now` (ms). */
  async oldestDue(of: WorkOf, now: number, limit: number, after?: string): Promise<readonly string[]> {
    const tests = new Set(await this.tests(of.destinationId));
    const [pending, retries] = await Promise.all([
      this.#oldestPending(of, limit + tests.size, after), this.#oldestRetries(of, now, limit, after),
    ]);
    const found = [pending.filter((eventId) => !tests.has(eventId)), retries];
    return [...new Set(found.flat())].sort(compared).slice(0, limit);
  }

  /** The slots of an ordered destination that have unfinished events. */
  async slots(destinationId: string): Promise<readonly number[]> {
    const selection = { collection: ordered.name, where: { destinationId } };
    return (await this.#readModels.distinct(selection, "slot", { limit: slotCount })) as readonly number[];
  }

  /** The first unfinished events of a slot, or of those after a place. */
  async inSlot(
    destinationId: string, slot: number, limit: number,
    after?: { readonly position: Position; readonly eventId: string },
  ): Promise<readonly OrderedDocument[]> {
    const found = await this.#readModels.find({
      collection: ordered.name,
      where: { destinationId, slot },
      order: { field: "position", descending: false },
      ...(after && { after: { value: after.position, key: after.eventId } }),
      limit,
    });
    return found as readonly OrderedDocument[];
  }

  /** Due events that have no place in the order: they were accepted by a process that did not know of it yet. */
  async unplaced(of: WorkOf & { readonly orderedSince: Timestamp }, now: number): Promise<readonly string[]> {
    const range = accepted({ to: timestamp(millis(of.orderedSince) + aheadMs) });
    const [pending, retries] = await Promise.all([
      this.#readModels.keys({ ...pendingOf(of), range, order: eventsOrdered(false), limit: unplacedAtOnce }),
      this.#readModels.keys({
        collection: waiting.name, where: { destinationId: of.destinationId }, range: { ...range, field: waiting.key },
        within: { field: "dueAt", to: timestamp(now) }, order: { field: waiting.key, descending: false },
        limit: unplacedAtOnce,
      }),
    ]);
    const found = [...new Set([...pending, ...retries])];
    const places = await ofEach(found, (eventId) => this.#readModels.get(ordered.name, eventId));
    return found.filter((_, at) => places[at] === null);
  }

  tests(destinationId: string): Promise<readonly string[]> {
    return this.#all({ collection: waitingTests.name, where: { destinationId } }, waitingTests.key);
  }

  /** Destinations with a retry that became due within (`after`, `until`], both ms. */
  async destinationsWithRetriesDue(after: number, until: number): Promise<ReadonlySet<string>> {
    const range = { field: "dueAt", from: timestamp(after + 1), to: timestamp(until) };
    return new Set(await this.#all({ collection: waiting.name, range }, "destinationId"));
  }

  /** Destinations with any work due by `until` (ms). */
  async destinationsWithWorkDue(until: number): Promise<ReadonlySet<string>> {
    const ahead = accepted({ from: timestamp(until + aheadMs) });
    // Times of acceptance then mean nothing: any destination with a Pending event has work.
    const isSetBack = (await this.#all({ ...pending, range: ahead }, "tenantId")).length > 0;
    const found = await Promise.all([
      this.#all({ collection: waiting.name, range: { field: "dueAt", to: timestamp(until) } }, "destinationId"),
      this.#all({ ...pending, ...(!isSetBack && { range: accepted({ to: timestamp(until) }) }) }, "destinationUrlId"),
    ]);
    return new Set(found.flat());
  }

  /** The due time of the oldest work due by `now` (ms), or null; without Inactive and Suspended destinations. */
  async longestDue(now: number): Promise<string | null> {
    const times = await ofEach(await this.destinationsWithWorkDue(now), (place) => this.#dueSince(place, now));
    return times.filter((at) => at !== null).sort()[0] ?? null;
  }

  /** Destinations that are not Inactive and whose circuit may be tried, or probe's lease is over, by `now` (ms). */
  circuitsDue(now: number): Promise<readonly string[]> {
    const range = { field: "wakeAt", from: timestamp(0), to: timestamp(now) };
    return this.#all({ collection: destinations.name, where: { active: true }, range }, destinations.key);
  }

  /** Destinations that were deleted while events of theirs wait for a retry, due or not: those are to be cancelled. */
  async deletedDestinations(): Promise<readonly string[]> {
    const places = await this.#all({ collection: waiting.name }, "destinationId");
    const documents = await ofEach(places, (place) => this.#readModels.get(destinations.name, place));
    return places.filter((_, at) => documents[at] === null);
  }

  leases(destinationId?: string): Promise<readonly LeaseDocument[]> {
    return everyDocument(this.#readModels, leases, destinationId === undefined ? {} : { where: { destinationId } });
  }

  async #pending(of: WorkOf, limit: number, from?: string): Promise<readonly WaitingWork[]> {
    const found = await this.#readModels.keys({
      ...pendingOf(of),
      ...(from !== undefined && { range: accepted({ from }) }),
      order: eventsOrdered(false),
      limit,
    });
    return found.map((eventId) => ({ eventId, dueAt: timestamp(acceptedMsOf(eventId)) }));
  }

  async #oldestPending(of: WorkOf, limit: number, after?: string): Promise<readonly string[]> {
    const range = after === undefined ? {} : { range: { field: events.key, from: after } };
    const query = { ...pendingOf(of), ...range, order: eventsOrdered(false), limit: limit + 1 };
    const found = await this.#readModels.keys(query);
    return found.filter((eventId) => eventId !== after);
  }

  async #oldestRetries(of: WorkOf, now: number, limit: number, after?: string): Promise<readonly string[]> {
    if (after === undefined) {
      const found = await this.#retries(of, { to: timestamp(now) }, waiting.key, limit);
      return found.map(({ eventId }) => eventId);
    }
    const range = { field: "dueAt", from: timestamp(0), to: timestamp(now) };
    const selection = { collection: waiting.name, where: { destinationId: of.destinationId }, range };
    return (await this.#readModels.distinct(selection, waiting.key, { after, limit })) as readonly string[];
  }

  /** The retries that are due in a time, first in the order of the field. */
  async #retries(
    { destinationId }: WorkOf, due: { readonly from?: string; readonly to: string }, field: string, limit: number,
  ): Promise<readonly WaitingWork[]> {
    const found = await this.#readModels.find({
      collection: waiting.name,
      where: { destinationId },
      range: { field: "dueAt", ...due },
      order: { field, descending: false },
      limit,
    });
    return (found as readonly WaitingDocument[]).map(({ eventId, dueAt }) => ({ eventId, dueAt }));
  }

  async #dueSince(destinationId: string, now: number): Promise<string | null> {
    const document = await documentOf(this.#readModels, destinations, destinationId);
    if (!document || destinationStatus(document) !== "Active") return null;
    const of = { destinationId, tenantId: document.tenantId };
    const [pendingSince, [retry]] = await Promise.all([
      this.#firstPendingSince(of), this.#retries(of, { to: timestamp(now) }, "dueAt", 1),
    ]);
    return [pendingSince, retry?.dueAt].filter((at) => at != null).sort()[0] ?? null;
  }

  /** The due time of a destination's first Pending event whose stream is not quarantined. */
  async #firstPendingSince(of: WorkOf): Promise<string | null> {
    for await (const documents of pagesOf(this.#readModels, events, { where: pendingOf(of).where, size: 1 })) {
      for (const { id, nextAttemptAt } of documents) {
        if (!(await this.#readModels.get(quarantine.name, streams.event(id)))) return nextAttemptAt;
      }
    }
    return null;
  }

  #all(selection: Selection, field: string): Promise<readonly string[]> {
    return everyValue(this.#readModels, selection, field);
  }
}

async function ofEach<Known>(
  places: Iterable<string>, ask: (place: string) => Promise<Known>,
): Promise<readonly Known[]> {
  const [all, known] = [[...places], [] as Known[]];
  for (let at = 0; at < all.length; at += askedAtOnce) {
    known.push(...await Promise.all(all.slice(at, at + askedAtOnce).map(ask)));
  }
  return known;
}

function pendingOf({ destinationId, tenantId }: WorkOf) {
  return { ...pending, where: { ...pending.where, destinationUrlId: destinationId, tenantId } };
}

/** Merges two lists, each of them its own first `limit`, into the first `limit` of both, longest due first. */
function merged(
  fresh: readonly WaitingWork[], retries: readonly WaitingWork[], limit: number,
): readonly WaitingWork[] {
  const order = (a: WaitingWork, b: WaitingWork) => compared(a.dueAt, b.dueAt) || compared(a.eventId, b.eventId);
  if (retries.length === 0) return fresh;
  // Asked one after the other, both may have an event that moved on in between.
  const both = new Map([...fresh, ...retries].map((work) => [work.eventId, work]));
  return [...both.values()].sort(order).slice(0, limit);
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
