import { greatestEventId, leastEventId } from "../../src/domain/event/event-id.ts";
import { eventStatuses, type EventStatus } from "../../src/domain/event/events.ts";
import { millis, timestamp } from "../../src/domain/time.ts";
import type { Query, Selection } from "../../src/ports/read-models.ts";
import type { Collection } from "../projection.ts";

/** A webhook event as lists show it, without its payload, which stays in the log. */
export type EventDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly status: EventStatus;
  readonly idempotencyKey: string | null;
  /** Failed attempts since acceptance or the last replay or resend. */
  readonly currentRetryCount: number;
  /** The due time of the next attempt; during an attempt, the attempt's own; null if no attempt is to come. */
  readonly nextAttemptAt: string | null;
  readonly acceptedAt: string;
  readonly deliveredAt: string | null;
  /** The place in the log of the fact that accepted it, which has its payload. */
  readonly acceptedIn: string;
  /** The place in the log of the fact that finished it; meaningless while it is not finished. */
  readonly finishedIn: string | null;
};

/**
 * Most of the cost of a projected event is its indexes, so these two serve every list: ids sort by acceptance, and a
 * list that is not filtered by status names all seven. The status comes first, so that the tenants or destinations with
 * an event in it are found by skipping through the index.
 */
export const events: Collection<EventDocument> = {
  name: "events",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    destinationUrlId: "id",
    status: "text",
    idempotencyKey: "text",
    currentRetryCount: "number",
    nextAttemptAt: "time",
    acceptedAt: "time",
    deliveredAt: "time",
    acceptedIn: "text",
    finishedIn: "text",
  },
  indexes: [
    ["status", "tenantId"],
    ["status", "destinationUrlId", "tenantId"],
  ],
};

/** Filters of a list of events; `from` and `to` are inclusive. */
export interface EventFilter {
  readonly tenantId: string;
  readonly status?: EventStatus | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A period of time, ms since 1970: from `from` up to, not including, `until`; either may be infinite. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** The times of acceptance that a filter lets through. */
export function periodOf({ from, to }: Pick<EventFilter, "from" | "to">): Period {
  return {
    from: from === undefined ? -Infinity : millis(from),
    until: to === undefined ? Infinity : millis(to) + 1,
  };
}

/** A finite period as a filter has it. */
export function boundsOf({ from, until }: Period): { readonly from: string; readonly to: string } {
  return { from: timestamp(from), to: timestamp(until - 1) };
}

/** Selects the events that match a filter. */
export function eventsSelected({ tenantId, status, destinationUrlId, from, to }: EventFilter): Selection {
  const where = { tenantId, ...(destinationUrlId !== undefined && { destinationUrlId }), ...(status && { status }) };
  return {
    collection: events.name,
    where,
    ...(!status && { anyOf: { field: "status", values: eventStatuses } }),
    ...((from ?? to) !== undefined && { range: accepted({ from, to }) }),
  };
}

/** Whether an event matches a filter, as {@link eventsSelected} has it. */
export function isSelected(
  { tenantId, status, destinationUrlId, from, to }: EventFilter,
  event: Pick<EventDocument, "tenantId" | "status" | "destinationUrlId" | "acceptedAt">,
): boolean {
  return event.tenantId === tenantId
    && (status === undefined || event.status === status)
    && (destinationUrlId === undefined || event.destinationUrlId === destinationUrlId)
    && (from === undefined || event.acceptedAt >= from)
    && (to === undefined || event.acceptedAt <= to);
}

/** The range of ids of the events accepted in a time; both ends inclusive. */
export function accepted({ from, to }: Pick<EventFilter, "from" | "to">): NonNullable<Selection["range"]> {
  return {
    field: events.key,
    ...(from !== undefined && { from: leastEventId(millis(from)) }),
    ...(to !== undefined && { to: greatestEventId(millis(to)) }),
  };
}

/** How events are ordered by either of the fields that lists can be sorted by. */
export function eventsOrdered(descending: boolean): Query["order"] {
  return { field: events.key, descending };
}
