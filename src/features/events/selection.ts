import { recordedSelection, type EventFilter } from "../../../projections/events/events.ts";
import { parseOptionalDateTime, parseTag } from "../../kernel/callers/input-rules.ts";
import type { DomainEvent } from "../../kernel/domain/domain-event.ts";
import { unlessRefused } from "../../kernel/domain/refusal.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { noStream, RevisionConflict, type EventStore } from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { CancellationFilter } from "../bulk/facts.ts";
import type { EventStatus, RecordedFilter } from "./facts.ts";

/** Appends under way at once: enough to share commits, few enough to leave the log to others. */
const together = 50;

/** Which events a request for many means, as its facts record it; null for any. */
type BulkFilter<Status extends EventStatus> =
  Omit<CancellationFilter, "ids" | "statuses"> & { readonly statuses: readonly Status[] };

type Given = {
  readonly [Field in "destinationUrlId" | "senderId" | "eventType" | "tag" | "from" | "to"]?: string | undefined;
} & { readonly [Field in keyof RecordedFilter]?: RecordedFilter[Field] | undefined };

/** The filters of a request that facts record only where they are given. Throws a Refusal (invalid). */
export function recordedOf(
  { ownerId, messageId, correlationId, tags = {}, ...given }: Given,
): RecordedFilter {
  const wanted = Object.entries(tags);
  for (const [name, value] of wanted) parseTag("tags", `${name}:${value}`);
  const finishedFrom = parseOptionalDateTime("finishedFrom", given.finishedFrom);
  const finishedTo = parseOptionalDateTime("finishedTo", given.finishedTo);
  return {
    ...(ownerId !== undefined && { ownerId }),
    ...(messageId !== undefined && { messageId: messageId.toLowerCase() }),
    ...(correlationId !== undefined && { correlationId }),
    ...(wanted.length > 0 && { tags }),
    ...(finishedFrom !== undefined && { finishedFrom }),
    ...(finishedTo !== undefined && { finishedTo }),
  };
}

/** The filter of a request. Throws a Refusal (invalid). */
export function bulkFilter<Status extends EventStatus>(given: Given, statuses: readonly Status[]): BulkFilter<Status> {
  const { destinationUrlId, senderId, eventType, tag, from, to } = given;
  if (tag !== undefined) parseTag("tag", tag);
  return {
    destinationId: destinationUrlId?.toLowerCase() ?? null,
    senderId: senderId?.toLowerCase() ?? null,
    eventType: eventType ?? null,
    tag: tag ?? null,
    statuses: [...new Set(statuses)],
    from: parseOptionalDateTime("from", from) ?? null,
    to: parseOptionalDateTime("to", to) ?? null,
    ...recordedOf(given),
  };
}

/** The filter for the read models; test events are never meant. */
export function selectedBy(
  tenantId: string,
  { destinationId, senderId, eventType, tag, statuses, from, to, ...recorded }: BulkFilter<EventStatus>,
): EventFilter {
  const { tags = [], ...further } = recordedSelection(recorded);
  return {
    ...further, tenantId, statuses, test: false,
    destinationUrlId: destinationId ?? undefined,
    senderId: senderId ?? undefined,
    eventType: eventType ?? undefined,
    tags: [...(tag === null ? [] : [parseTag("tag", tag)]), ...tags],
    from: from ?? undefined,
    to: to ?? undefined,
  };
}

/** Appends a fact behind the newest entry of a stream, readable or not: the fact depends on no earlier one. */
export async function record(
  { store, ids }: { readonly store: EventStore; readonly ids: Ids }, stream: string, fact: DomainEvent, origin: Origin,
): Promise<void> {
  for (;;) {
    const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
    try {
      await store.append(stream, newest?.revision ?? noStream, entriesOf([fact], origin, ids));
      return;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

/** Acts on events, some at once; the number of acts that resolved with true. A Refusal passes an event over. */
export async function actOnEach(
  eventIds: readonly string[], act: (eventId: string) => Promise<boolean>,
): Promise<number> {
  let acted = 0;
  for (let at = 0; at < eventIds.length; at += together) {
    const done = await Promise.all(eventIds.slice(at, at + together).map((id) => unlessRefused(() => act(id))));
    acted += done.filter(Boolean).length;
  }
  return acted;
}
