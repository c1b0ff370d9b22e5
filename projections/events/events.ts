import { eventStatuses, type EventStatus } from "../../src/domain/event/events.ts";
import type { Selection } from "../../src/ports/read-models.ts";
import type { Collection } from "../projection.ts";

/** A webhook event as lists show it, but for its payload, which stays in the log. */
export type EventDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly status: EventStatus;
  readonly idempotencyKey: string | null;
  readonly currentRetryCount: number;
  readonly nextAttemptAt: string | null;
  readonly acceptedAt: string;
  readonly deliveredAt: string | null;
  /** The place in the log of the fact that finished it; of no meaning while it is not finished. */
  readonly finishedIn: string | null;
};

/** Fields that lists of events can be sorted by. */
export const eventSortFields = ["acceptedAt", "id"] as const;

/**
 * Every index has the status in it, for a list without that filter names all seven: most of the cost
 * of a projected event is its indexes. Ordered by id, the other two fields are there to filter by.
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
    finishedIn: "text",
  },
  indexes: [
    ["tenantId", "status", "acceptedAt"],
    ["tenantId", "destinationUrlId", "status", "acceptedAt"],
    ["tenantId", "status", "id", "acceptedAt"],
    ["tenantId", "destinationUrlId", "status", "id", "acceptedAt"],
  ],
};

/** What a list of events may be narrowed to; `from` and `to` are inclusive. */
export interface EventFilter {
  readonly tenantId: string;
  readonly status?: EventStatus | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The events a filter means. */
export function eventsSelected({ tenantId, status, destinationUrlId, from, to }: EventFilter): Selection {
  const where = { tenantId, ...(destinationUrlId !== undefined && { destinationUrlId }), ...(status && { status }) };
  return {
    collection: events.name,
    where,
    ...(!status && { anyOf: { field: "status", values: eventStatuses } }),
    ...((from ?? to) !== undefined && {
      range: { field: "acceptedAt", ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    }),
  };
}
