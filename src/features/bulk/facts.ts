import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { anyText, integer, list, nullable, oneOf, time, uuid, type ObjectOf } from "../../kernel/domain/schema.ts";
import { recordedFilter } from "../events/facts.ts";

/** The statuses of events that can be cancelled. */
export const cancellableStatuses = ["Pending", "WaitingRetry"] as const;
export type CancellableStatus = (typeof cancellableStatuses)[number];

const filter = {
  destinationId: nullable(uuid(), "null: of every destination."),
  senderId: nullable(uuid(), "null: through any sender, or none."),
  eventType: nullable(anyText(), "null: of any type, or none."),
  tag: nullable(anyText(), "A tag that they have, `name:value`; null: whatever tags they have."),
  statuses: list(oneOf(cancellableStatuses), "Only events in one of these."),
  from: nullable(time(), "Accepted from this time; null: whenever."),
  to: nullable(time(), "Accepted up to this time; null: whenever."),
  ids: nullable(integer(1), "How many events were named by their ids; null: any may be meant."),
  ...recordedFilter,
};
/** Which of a tenant's waiting events are meant; times of acceptance, both inclusive; null for any. */
export type CancellationFilter = Readonly<ObjectOf<typeof filter>>;

const told = ["tenantId", "at"] as const;

/** Facts of a `cancellations-<tenantId>` stream: of each request to cancel many. Each event has its EventCancelled. */
export const cancellationsFacts = {
  CancellationOrdered: fact({
    data: {
      cancellationId: uuid(), tenantId: uuid(), ...filter,
      matched: integer(0, "How many events the filter matched when it began."),
      at,
    },
    meaning: "A bulk cancellation began. Each event that it cancels has an EventCancelled.",
    words: "ordered to cancel {matched:events}",
    shown: [
      ...told, "cancellationId", "destinationId", "senderId", "eventType", "tag", "statuses", "from", "to", "ids",
      "ownerId", "messageId", "correlationId", "tags", "finishedFrom", "finishedTo", "matched",
    ],
    audit: "cancellation",
    example: {
      tenantId: examples.tenantId, cancellationId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e1f",
      destinationId: examples.destinationId, senderId: null, eventType: null, tag: null,
      statuses: ["Pending", "WaitingRetry"], from: null, to: null, ids: null, matched: 42, at: examples.at,
    },
  }),
  CancellationCompleted: fact({
    data: {
      cancellationId: uuid(), tenantId: uuid(),
      cancelled: integer(0, "How many the request cancelled: less than matched where the state of others had changed."),
      at,
    },
    meaning: "A bulk cancellation finished.",
    words: "cancelled {cancelled:events}",
    shown: [...told, "cancellationId", "cancelled"],
    audit: "cancellation",
  }),
};
export type CancellationsEvent = EventsOf<typeof cancellationsFacts>;
