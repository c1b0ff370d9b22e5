import { eventStatuses, type EventStatus } from "../../src/features/events/facts.ts";
import { greatestEventId, leastEventId } from "../../src/kernel/domain/event-id.ts";
import type { FailureReason } from "../../src/kernel/domain/failure-reason.ts";
import type { Tags } from "../../src/kernel/domain/tags.ts";
import { millis, timestamp } from "../../src/kernel/domain/time.ts";
import type { Query, Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import { labelsWanted, type LabelFilter } from "./labels.ts";

/** An event without its payload, which stays in the log. */
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
  /** The position of the fact that accepted it, which has its payload. */
  readonly acceptedIn: string;
  /** The position of the fact that finished it; meaningless before. */
  readonly finishedIn: string | null;
  readonly test: true | null;
  /** The id of the request if it tells the time; else a label has it. */
  readonly correlationId: string | null;
  readonly labels: readonly string[] | null;
  readonly attempts: number;
  /** The attempt whose outcome was recorded last, unless another began since: null then, as are the fields below. */
  readonly endedAttempt: number | null;
  readonly endedAt: string | null;
  readonly endedStatusCode: number | null;
  readonly endedReason: FailureReason | null;
  readonly endedDurationMs: number | null;
};

/**
 * Indexes are most of an event's cost, so two serve every list: ids sort by acceptance, and a list without a status
 * names all seven. The status in front lets the index find tenants or destinations with such an event by skipping.
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
    test: "boolean",
    correlationId: "id",
    labels: "json",
    attempts: "number",
    endedAttempt: "number",
    endedAt: "time",
    endedStatusCode: "number",
    endedReason: "text",
    endedDurationMs: "number",
  },
  indexes: [
    ["status", "tenantId"],
    ["status", "destinationUrlId", "tenantId"],
  ],
};

/** Filters of a list of events; `from` and `to` are inclusive. */
export interface EventFilter extends LabelFilter {
  readonly tenantId: string;
  /** Any of them; all by default. */
  readonly statuses?: readonly EventStatus[] | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A period of time, ms since 1970: from `from` up to, not including, `until`; either may be infinite. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** The period of acceptance of a filter. */
export function periodOf({ from, to }: Pick<EventFilter, "from" | "to">): Period {
  return {
    from: from === undefined ? -Infinity : millis(from),
    until: to === undefined ? Infinity : millis(to) + 1,
  };
}

/** The bounds of a finite period, for a filter. */
export function boundsOf({ from, until }: Period): { readonly from: string; readonly to: string } {
  return { from: timestamp(from), to: timestamp(until - 1) };
}

/** Whether counters and indexes of events serve a filter whole, without labels and the ids of requests. */
export function isPlain(filter: EventFilter): boolean {
  return filter.correlationId === undefined && labelsWanted(filter).length === 0;
}

/** Selects the events that match a filter, but for its labels and its request. */
export function eventsSelected({ tenantId, statuses, destinationUrlId, test, from, to }: EventFilter): Selection {
  const [status, ...others] = statuses ?? eventStatuses;
  const where = {
    tenantId,
    ...(destinationUrlId !== undefined && { destinationUrlId }),
    ...(others.length === 0 && { status: status! }),
    ...(test === false && { test: null }),
  };
  return {
    collection: events.name,
    where,
    ...(others.length > 0 && { anyOf: { field: "status", values: statuses ?? eventStatuses } }),
    ...((from ?? to) !== undefined && { range: accepted({ from, to }) }),
  };
}

/** An event with the id of its request. */
export interface SelectableEvent {
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly status: EventStatus;
  readonly acceptedAt: string;
  readonly senderId: string | null;
  readonly messageId: string | null;
  readonly eventType: string | null;
  readonly ownerId: string | null;
  readonly tags: Tags | null;
  readonly test: boolean;
  readonly correlationId: string | null;
}

const comparable = [
  "tenantId", "destinationUrlId", "senderId", "messageId", "eventType", "ownerId", "test", "correlationId",
] as const;

/** Whether an event matches a filter. */
export function isSelected(filter: EventFilter, event: SelectableEvent): boolean {
  const { tags = [] } = filter;
  return comparable.every((field) => filter[field] === undefined || filter[field] === event[field])
    && isWithin(filter, event)
    && tags.every(({ name, value }) => event.tags?.[name] === value);
}

/** Whether the event of a document matches a filter, but for its request. */
export function isDocumentSelected(filter: EventFilter, document: EventDocument): boolean {
  const { tenantId, destinationUrlId, test } = filter;
  return document.tenantId === tenantId
    && (destinationUrlId === undefined || document.destinationUrlId === destinationUrlId)
    && (test !== false || document.test === null)
    && isWithin(filter, document)
    && labelsWanted(filter).every((label) => document.labels?.includes(label));
}

function isWithin(
  { statuses, from, to }: EventFilter, { status, acceptedAt }: Pick<EventDocument, "status" | "acceptedAt">,
): boolean {
  return (statuses === undefined || statuses.includes(status))
    && (from === undefined || acceptedAt >= from)
    && (to === undefined || acceptedAt <= to);
}

/** The ids of events accepted in a period; both ends inclusive. */
export function accepted({ from, to }: Pick<EventFilter, "from" | "to">): NonNullable<Selection["range"]> {
  return {
    field: events.key,
    ...(from !== undefined && { from: leastEventId(millis(from)) }),
    ...(to !== undefined && { to: greatestEventId(millis(to)) }),
  };
}

/** The order of lists of events. */
export function eventsOrdered(descending: boolean): Query["order"] {
  return { field: events.key, descending };
}
