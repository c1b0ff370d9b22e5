import { eventTotalsQuery, lists } from "../../lists.ts";
import { attempt, event, eventTotals, fact, pageOf, waitingEvent } from "../examples.ts";
import { typesOf } from "../fact-types.ts";
import { json, problem, type Operation } from "../operation.ts";

const id = "The event's id.";
const tag = "Events";
const othersEvent = "the event belongs to another tenant";

/** Accepted events of the caller's tenant. */
export const eventOperations: readonly Operation[] = [
  {
    id: "listEvents",
    method: "GET",
    path: "/api/v1/events",
    tag,
    summary: "List events",
    description:
      "Any role. `From` and `To` are ISO 8601 dates or date-times, both inclusive. With an `IdempotencyKey` there is " +
      "one event or none. A filter that names another tenant's or no one's destination gives an empty page. " +
      "While events arrive, pages from the newest one on meet some twice: fix `To`, or take `TpOrd` `Asc`.",
    security: "bearer",
    query: lists.events,
    answers: { 200: json("event-page", "A page of events.", pageOf(event)) },
  },
  {
    id: "countEvents",
    method: "GET",
    path: "/api/v1/events/totals",
    tag,
    summary: "Count events by status",
    description:
      "Any role. The filters mean what those of the list of events do, and `statuses` has the `total` of that list " +
      "for each `Status`.",
    security: "bearer",
    query: eventTotalsQuery,
    answers: { 200: json("event-totals", "How many there are, in all and in each status.", eventTotals) },
  },
  {
    id: "getEvent",
    method: "GET",
    path: "/api/v1/events/:id",
    tag,
    summary: "Get an event",
    description: "Any role.",
    security: "bearer",
    parameters: { id },
    answers: {
      200: json("event", "The event.", event),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  {
    id: "listAttempts",
    method: "GET",
    path: "/api/v1/events/:id/attempts",
    tag,
    summary: "List the attempts to deliver an event",
    description: "Any role. What was sent and what came back, with credentials masked in both.",
    security: "bearer",
    parameters: { id },
    query: lists.attempts,
    answers: {
      200: json("attempt-page", "A page of attempts.", pageOf(attempt)),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  {
    id: "listHistory",
    method: "GET",
    path: "/api/v1/events/:id/history",
    tag,
    summary: "List every fact about an event",
    description:
      `Any role. The log itself: who did what, when, and through which configuration.\n\n${typesOf("event")}`,
    security: "bearer",
    parameters: { id },
    query: lists.history,
    answers: {
      200: json("history-page", "A page of facts, in the order in which they came to be.", pageOf(fact)),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  {
    id: "replayEvent",
    method: "POST",
    path: "/api/v1/events/:id/replay",
    tag,
    summary: "Deliver a given-up event once more",
    description:
      "Developer or above. Only from CriticalFailure. `currentRetryCount` starts at 0 again, attempt numbers go " +
      "on. To a Suspended or Inactive destination the event is held.",
    security: "bearer",
    parameters: { id },
    answers: {
      200: json("event", "The event, waiting for its next attempt.", waitingEvent),
      400: problem(
        "The event is not in CriticalFailure.",
        "the event is Succeeded; only one in CriticalFailure can be replayed",
      ),
      403: problem(
        "The caller is a Viewer, or the event belongs to another tenant.",
        "only Developer or above may replay events", othersEvent,
      ),
      422: problem("There is nowhere to deliver it to.", "the event's destination was deleted"),
    },
  },
  {
    id: "cancelEvent",
    method: "POST",
    path: "/api/v1/events/:id/cancel",
    tag,
    summary: "Take an event that waits out for good",
    description: "Developer or above. Only from Pending or WaitingRetry. Its idempotency key stays used.",
    security: "bearer",
    parameters: { id },
    answers: {
      200: json("event", "The event, Cancelled.", { ...waitingEvent, status: "Cancelled", nextAttemptAt: null }),
      400: problem(
        "The event does not wait.",
        "the event is Succeeded; only one that is Pending or WaitingRetry can be cancelled",
      ),
      403: problem(
        "The caller is a Viewer, or the event belongs to another tenant.",
        "only Developer or above may cancel events", othersEvent,
      ),
    },
  },
];
