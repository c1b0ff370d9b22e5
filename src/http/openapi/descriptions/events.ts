import { asOfWords, facts, json, page, problem, type Descriptions } from "../description.ts";
import { attempt, event, eventTotals, fact, story, waitingEvent } from "../examples.ts";
import { typesOf } from "../facts/fact-types.ts";

const id = "The event's id.";
const tag = "Events";
const othersEvent = "the event belongs to another tenant";

/** Accepted events of the caller's tenant. */
export const eventDescriptions: Descriptions = {
  "GET /api/v1/events": {
    id: "listEvents",
    tag,
    summary: "List events",
    description:
      "`From` and `To` are ISO 8601 dates or date-times, both inclusive. With an `IdempotencyKey` there is " +
      "one event or none. Several filters must all hold. One that names another tenant's or no one's destination, " +
      "sender or message gives an empty page. With `SenderId`, `EventType`, `OwnerId`, `Tag` or `Test=true` the " +
      "`total` takes longer the more events match. " +
      "While events arrive, paging by `Pg` from the newest one shows some twice: use `Cursor`.",
    answers: { 200: page("event", "A page of events.", event) },
  },
  "GET /api/v1/events/totals": {
    id: "countEvents",
    tag,
    summary: "Count events by status",
    description:
      "The filters are those of the list of events, and `statuses` has the `total` of that list for each " +
      "`Status`, 0 where `Status` does not name it. Test events are left out.",
    answers: { 200: json("event-totals", "How many there are, in all and in each status.", eventTotals) },
  },
  "GET /api/v1/events/:id": {
    id: "getEvent",
    tag,
    summary: "Get an event",
    description: `${asOfWords} A purged event is gone for every moment.`,
    parameters: { id },
    answers: {
      200: json("event", "The event.", event),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  "GET /api/v1/events/:id/attempts": {
    id: "listAttempts",
    tag,
    summary: "List an event's attempts",
    description: "What was sent and what came back, with credentials masked in both.",
    parameters: { id },
    answers: {
      200: page("attempt", "A page of attempts.", attempt),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  "GET /api/v1/events/:id/history": {
    id: "listEventHistory",
    tag,
    summary: "List an event's history",
    description:
      `The log itself: who did what, when, and through which configuration.\n\n${typesOf("event")}`,
    parameters: { id },
    answers: {
      200: facts(fact),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  "GET /api/v1/events/:id/story": {
    id: "getEventStory",
    tag,
    summary: "Tell an event's story",
    description:
      "What happened to the event and why: its attempts, its waits, and the settings that changed " +
      "meanwhile. Each cause names the entry of the log that states it; where no entry says why, the cause is " +
      "`not-recorded`. With `AsOf` the story ends at that moment; 404 before the event was accepted. Of each " +
      "neighbour of the event (its destination, the circuit, the tenant, the sender) the last 1,000 entries between " +
      "its acceptance and its end are read, and a wait names the last 10 holds.",
    parameters: { id },
    answers: {
      200: json("story", "The story.", story),
      403: problem("The event belongs to another tenant.", othersEvent),
    },
  },
  "POST /api/v1/events/:id/replay": {
    id: "replayEvent",
    tag,
    summary: "Replay an event",
    description:
      "Only from CriticalFailure. `currentRetryCount` starts at 0 again, attempt numbers " +
      "continue. If the destination is Suspended or Inactive the event is held.",
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
      422: problem(
        "Its destination was deleted, or it had 1,000 attempts or more.",
        "the event's destination was deleted", "the event had 1000 attempts; from 1000 on it cannot be replayed",
      ),
    },
  },
  "POST /api/v1/events/:id/resend": {
    id: "resendEvent",
    tag,
    summary: "Resend an event",
    description:
      "Only from Succeeded or CriticalFailure. The event is sent once more with the same " +
      "`webhook-id`, though its receiver may have it. Attempt numbers continue, `currentRetryCount` starts at 0 " +
      "again, and `deliveredAt` keeps the last success until the next one. An attempt of before the resend settles " +
      "the event no more, if its outcome comes late. If the destination is Suspended or Inactive the event is held.",
    parameters: { id },
    answers: {
      200: json(
        "event", "The event, waiting for its next attempt.", { ...waitingEvent, deliveredAt: event.deliveredAt }),
      400: problem(
        "The event is neither in Succeeded nor in CriticalFailure.",
        "the event is Cancelled; only one in Succeeded or CriticalFailure can be resent",
      ),
      403: problem(
        "The caller is a Viewer, or the event belongs to another tenant.",
        "only Developer or above may resend events", othersEvent,
      ),
      422: problem("Its destination was deleted.", "the event's destination was deleted"),
    },
  },
  "POST /api/v1/events/:id/retry": {
    id: "retryEvent",
    tag,
    summary: "Retry a waiting event now",
    description:
      "Only from WaitingRetry. The planned retry is due now; `currentRetryCount` stays. An event " +
      "that is held, since its destination is Suspended or Inactive, stays held, and so it does while the receiver's " +
      "pause after an answer of 429 lasts. A retry that is due already keeps its `nextAttemptAt`.",
    parameters: { id },
    answers: {
      200: json(
        "event", "The event, due now.", { ...waitingEvent, status: "WaitingRetry", currentRetryCount: 1 }),
      400: problem(
        "The event is not in WaitingRetry.", "the event is Succeeded; only one in WaitingRetry can be retried",
      ),
      403: problem(
        "The caller is a Viewer, or the event belongs to another tenant.",
        "only Developer or above may retry events", othersEvent,
      ),
    },
  },
  "POST /api/v1/events/:id/cancel": {
    id: "cancelEvent",
    tag,
    summary: "Cancel a waiting event",
    description: "Only from Pending or WaitingRetry. Its idempotency key stays used.",
    parameters: { id },
    answers: {
      200: json("event", "The event, Cancelled.", { ...waitingEvent, status: "Cancelled", nextAttemptAt: null }),
      400: problem(
        "The event is not waiting.",
        "the event is Succeeded; only one that is Pending or WaitingRetry can be cancelled",
      ),
      403: problem(
        "The caller is a Viewer, or the event belongs to another tenant.",
        "only Developer or above may cancel events", othersEvent,
      ),
    },
  },
};
