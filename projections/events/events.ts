import { eventStatuses, isFinished, type EventStatus, type RecordedFilter } from "../../src/features/events/facts.ts";
import { greatestEventId, leastEventId } from "../../src/kernel/domain/event-id.ts";
import type { FailureReason } from "../../src/kernel/domain/failure-reason.ts";
import type { Tags } from "../../src/kernel/domain/tags.ts";
import { millis, timestamp } from "../../src/kernel/domain/time.ts";
import type { Query, Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import { correlationLabel, labelsWanted, type LabelFilter } from "./labels.ts";

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
  /** When it was finished last; meaningless before. */
  readonly finishedAt: string | null;
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
    finishedAt: "time",
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

/** Filters of a list of events; times are inclusive. */
export interface EventFilter extends LabelFilter {
  readonly tenantId: string;
  /** Any of them; all by default. */
  readonly statuses?: readonly EventStatus[] | undefined;
  readonly destinationUrlId?: string | undefined;
  /** Any of them; all by default. */
  readonly destinationUrlIds?: readonly string[] | undefined;
  readonly correlationId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly finishedFrom?: string | undefined;
  readonly finishedTo?: string | undefined;
  /** The replay in the background that sent them. */
  readonly replayId?: string | undefined;
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

/** Whether counters and indexes of events serve a filter whole. */
export function isPlain(filter: EventFilter): boolean {
  return filter.correlationId === undefined && filter.destinationUrlIds === undefined
    && filter.replayId === undefined && !isOfFinished(filter) && labelsWanted(filter).length === 0;
}

/** Whether a filter selects by the time when events were finished. */
export function isOfFinished({ finishedFrom, finishedTo }: EventFilter): boolean {
  return (finishedFrom ?? finishedTo) !== undefined;
}

function statusesOf(filter: EventFilter): readonly EventStatus[] {
  const { statuses = eventStatuses } = filter;
  return isOfFinished(filter) ? statuses.filter(isFinished) : statuses;
}

/** Selects the events that match a filter by destination, status and acceptance; test events may be left out. */
export function eventsSelected(filter: EventFilter): Selection {
  const { tenantId, destinationUrlId, test, from, to } = filter;
  const statuses = statusesOf(filter);
  const [status] = statuses;
  const isOne = status !== undefined && statuses.length === 1;
  const where = {
    tenantId,
    ...(destinationUrlId !== undefined && { destinationUrlId }),
    ...(isOne && { status }),
    ...(test === false && { test: null }),
  };
  return {
    collection: events.name,
    where,
    ...(!isOne && { anyOf: { field: "status", values: statuses } }),
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
  /** Null while it is not finished. */
  readonly finishedAt: string | null;
}

const comparable = [
  "tenantId", "destinationUrlId", "senderId", "messageId", "eventType", "ownerId", "test", "correlationId",
] as const;

/** Whether an event matches a filter, but for its replay. */
export function isSelected(filter: EventFilter, event: SelectableEvent): boolean {
  const { tags = [] } = filter;
  return comparable.every((field) => filter[field] === undefined || filter[field] === event[field])
    && isWithin(filter, event)
    && (filter.destinationUrlIds?.includes(event.destinationUrlId) ?? true)
    && tags.every(({ name, value }) => event.tags?.[name] === value);
}

/** Whether the event of a document matches a filter, but for its replay. */
export function isDocumentSelected(filter: EventFilter, document: EventDocument): boolean {
  const { tenantId, destinationUrlId, test, correlationId } = filter;
  const finishedAt = isFinished(document.status) ? document.finishedAt : null;
  return document.tenantId === tenantId
    && (destinationUrlId === undefined || document.destinationUrlId === destinationUrlId)
    && (filter.destinationUrlIds?.includes(document.destinationUrlId) ?? true)
    && (test !== false || document.test === null)
    && isWithin(filter, { ...document, finishedAt })
    && (correlationId === undefined || document.correlationId === correlationId
      || document.labels?.includes(correlationLabel(correlationId)) === true)
    && labelsWanted(filter).every((label) => document.labels?.includes(label));
}

function isWithin(
  filter: EventFilter, { status, acceptedAt, finishedAt }: Pick<EventDocument, "status" | "acceptedAt" | "finishedAt">,
): boolean {
  const { statuses, from, to, finishedFrom, finishedTo } = filter;
  return (statuses === undefined || statuses.includes(status))
    && (from === undefined || acceptedAt >= from)
    && (to === undefined || acceptedAt <= to)
    && (finishedFrom === undefined || (finishedAt !== null && finishedAt >= finishedFrom))
    && (finishedTo === undefined || (finishedAt !== null && finishedAt <= finishedTo));
}

/** The part of a filter that facts of acts on many events record; null stands for what is missing. */
export function recordedSelection(
  { tags, ...recorded }: { readonly [Field in keyof RecordedFilter]: RecordedFilter[Field] | null },
): Omit<EventFilter, "tenantId"> {
  const { ownerId, messageId, correlationId, finishedFrom, finishedTo } = recorded;
  return {
    ownerId: ownerId ?? undefined,
    messageId: messageId ?? undefined,
    correlationId: correlationId ?? undefined,
    finishedFrom: finishedFrom ?? undefined,
    finishedTo: finishedTo ?? undefined,
    tags: Object.entries(tags ?? {}).map(([name, value]) => ({ name, value })),
  };
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
