import type { Inputs } from "../../../schemas/api.ts";
import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import listAttempts from "../../../schemas/requests/list-attempts.json" with { type: "json" };
import listEvents from "../../../schemas/requests/list-events.json" with { type: "json" };
import searchEvents from "../../../schemas/requests/search-events.json" with { type: "json" };
import { credentialIdsOf } from "../../kernel/callers/caller.ts";
import { parseOptionalDateTime, parseTag } from "../../kernel/callers/input-rules.ts";
import { isPointer } from "../../kernel/domain/json-pointer.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { access, barrier, withPortal } from "../../kernel/operations/access.ts";
import {
  asOfWords, type DescribedAnswer, facts, file, json, lines, page, problem, unnamedDestination,
} from "../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { queryReader, readerWithout, scanReader } from "../../kernel/operations/query-parameters.ts";
import { attempt, event, eventSummary, eventTotals, fact, story, waitingEvent } from "../examples.ts";
import { typesOf } from "../facts.ts";
import { historyLists, historyRequest } from "../history.ts";
import type { Services } from "../services.ts";
import { exportLinesOf, jsonLines, linesBytes, linesOf } from "./export.ts";
import type { PayloadCondition } from "./payload-condition.ts";
import type { EventListFilter } from "./queries.ts";

const read = withPortal(access("Viewer", "events:read"), "read");
const readHistory = withPortal(access("Viewer", "audit:read"), "read");
const write = access("Developer", "events:write");
const replay = withPortal(write, "replay");
const id = "The event's id.";
const tag = "Events";
const othersEvent = "the event belongs to another tenant";

const { CpOrd: _order, TpOrd: _direction, View: _view, Columns: _columns, ...eventFilters } = listEvents.properties;

const eventSearchQuery = scanReader<Omit<Inputs["searchEvents"], "Cursor">>(
  { ...searchEvents, properties: { ...searchEvents.properties, ...eventFilters } });

const eventTotalsQuery = { type: "object", properties: eventFilters };

const eventExportQuery = readerWithout(
  queryReader<Inputs["exportEvents"]>({
    type: "object",
    properties: {
      ...eventFilters,
      Include: {
        type: "array", "x-commas": true, minItems: 1, items: { type: "string", enum: ["attempts", "history"] },
        description: "What each event has beside its own fields: `attempts`, `history`, or both with a comma between.",
      },
    },
  }),
  ["Qt", "Pg", "Cursor", "CpOrd", "TpOrd", "Total", "View"],
  "is not possible here: an export has all events, in order of acceptance",
);

const markdown = "text/markdown";

const storyAnswer: DescribedAnswer = {
  description: "The story.",
  content: { ...json("story", "", story).content, ...file(markdown, "").content },
};

/** Accepted events of the caller's tenant. */
export function eventOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "listEvents",
      route: "GET /api/v1/events",
      access: read,
      isLarge: true,
      tag,
      summary: "List events",
      description:
        "`From` and `To` are ISO 8601 dates or date-times, both inclusive. With an `IdempotencyKey` there is " +
        "one event or none. Several filters must all hold. One that names another tenant's or no one's destination, " +
        "sender, message or replay gives an empty page. With `SenderId`, `EventType`, `OwnerId`, `Tag`, " +
        "`FinishedFrom`, `FinishedTo`, `ReplayId` or `Test=true` the `total` takes longer the more events match. " +
        "While events arrive, paging by `Pg` from the newest one shows some twice: use `Cursor`.",
      list: listEvents,
      answers: { 200: page("event", "A page of events.", event), 404: unnamedDestination },
    }, async ({ caller, input }) => {
      const { page, filters: { View: view, Columns: columns, ...filters } } = input;
      const filter = filterOf(filters);
      if (view === "summary") {
        return { status: 200, page: await queries.events.summaries(caller, filter, page, columns) };
      }
      return { status: 200, page: await queries.events.list(caller, filter, page, columns) };
    }),
    signedIn({
      id: "countEvents",
      route: "GET /api/v1/events/totals",
      access: read,
      isLarge: true,
      tag,
      summary: "Count events by status",
      description:
        "The filters are those of the list of events, and `statuses` has the `total` of that list for each " +
        "`Status`, 0 where `Status` does not name it. Test events are left out unless `Test=true` asks for them.",
      query: eventTotalsQuery,
      answers: {
        200: json("event-totals", "How many there are, in all and in each status.", eventTotals),
        404: unnamedDestination,
      },
    }, async ({ caller, input }) => ({
      status: 200,
      body: await queries.events.totals(caller, filterOf(input)),
    })),
    signedIn({
      id: "getEvent",
      route: "GET /api/v1/events/:id",
      access: read,
      isLarge: true,
      tag,
      summary: "Get an event",
      description:
        `${asOfWords} A purged event is gone for every moment. The id of a message shows the message as it is now: ` +
        "its `deliveries`, and a status that sums theirs up.",
      parameters: { id },
      query: asOf,
      answers: {
        200: json("found-event", "The event, or the message.", event),
        403: problem("The event belongs to another tenant.", othersEvent),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.events.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn({
      id: "listAttempts",
      route: "GET /api/v1/events/:id/attempts",
      access: read,
      isLarge: true,
      tag,
      summary: "List an event's attempts",
      description: "What was sent and what came back, with credentials masked in both.",
      parameters: { id },
      list: listAttempts,
      answers: {
        200: page("attempt", "A page of attempts.", attempt),
        403: problem("The event belongs to another tenant.", othersEvent),
      },
    }, async (call) => ({
      status: 200,
      page: await queries.events.attempts(call.caller, pathId(call), call.input.page),
    })),
    signedIn({
      id: "listEventHistory",
      route: "GET /api/v1/events/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List an event's history",
      description:
        `The log itself: who did what, when, and through which configuration.\n\n${typesOf("event")}`,
      parameters: { id },
      list: historyLists.event,
      answers: {
        200: facts(fact),
        403: problem("The event belongs to another tenant.", othersEvent),
      },
    }, async (call) => ({
      status: 200,
      page: await queries.events.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "getEventStory",
      route: "GET /api/v1/events/:id/story",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "Tell an event's story",
      description:
        "What happened to the event and why: its attempts, its waits, and the settings that changed " +
        "meanwhile. Each cause names the entry of the log that states it; where no entry says why, the cause is " +
        "`not-recorded`. With `AsOf` the story ends at that moment; 404 before the event was accepted. Of each " +
        "neighbour of the event (its destination, the circuit, the tenant, the sender) the last 1,000 entries " +
        "between its acceptance and its end are read, and a wait names the last 10 holds. With " +
        "`Accept: text/markdown` it is a text for a ticket, with the names of its authors and the receiver's last " +
        "words.",
      parameters: { id },
      query: asOf,
      answers: {
        200: storyAnswer,
        403: problem("The event belongs to another tenant.", othersEvent),
      },
    }, async (call) => {
      const { caller, input: { AsOf }, headers: { accept = "" } } = call;
      // A client that lists both media types can read JSON.
      const isText = accept.includes(markdown) && !accept.includes("application/json");
      const headers = { Vary: "Accept" };
      if (!isText) return { status: 200, headers, body: await queries.events.story(caller, pathId(call), AsOf) };
      const text = await queries.events.storyText(caller, pathId(call), AsOf);
      return { status: 200, headers, type: `${markdown}; charset=utf-8`, text };
    }),
    signedIn({
      id: "replayEvent",
      route: "POST /api/v1/events/:id/replay",
      access: replay,
      tag,
      summary: "Replay an event",
      description:
        "Only from CriticalFailure. `currentRetryCount` starts at 0 again, attempt numbers " +
        "continue. If the destination is Suspended or Inactive the event is held.",
      parameters: { id },
      answers: {
        200: json("found-event", "The event, waiting for its next attempt.", waitingEvent),
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
    }, async (call) => ({
      status: 200,
      body: await commands.acts.act("replay", call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn({
      id: "resendEvent",
      route: "POST /api/v1/events/:id/resend",
      access: replay,
      tag,
      summary: "Resend an event",
      description:
        "Only from Succeeded or CriticalFailure. The event is sent once more with the same " +
        "`webhook-id`, though its receiver may have it. Attempt numbers continue, `currentRetryCount` starts at 0 " +
        "again, and `deliveredAt` keeps the last success until the next one. An attempt of before the resend settles " +
        "the event no more, if its outcome comes late. If the destination is Suspended or Inactive the event is held.",
      parameters: { id },
      answers: {
        200: json("found-event", "The event, waiting for its next attempt.", {
          ...waitingEvent, deliveredAt: event.deliveredAt,
        }),
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
    }, async (call) => ({
      status: 200,
      body: await commands.acts.act("resend", call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn({
      id: "retryEvent",
      route: "POST /api/v1/events/:id/retry",
      access: replay,
      tag,
      summary: "Retry a waiting event now",
      description:
        "Only from WaitingRetry. The planned retry is due now; `currentRetryCount` stays. An event " +
        "that is held, since its destination is Suspended or Inactive, stays held, and so it does while the " +
        "receiver's pause after an answer of 429 lasts. A retry that is due already keeps its `nextAttemptAt`.",
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
    }, async (call) => ({
      status: 200,
      body: await commands.events.retry(call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn({
      id: "cancelEvent",
      route: "POST /api/v1/events/:id/cancel",
      access: withPortal(write, "none"),
      tag,
      summary: "Cancel a waiting event",
      description: "Only from Pending or WaitingRetry. Its idempotency key stays used.",
      parameters: { id },
      answers: {
        200: json("found-event", "The event, Cancelled.", {
          ...waitingEvent, status: "Cancelled", nextAttemptAt: null,
        }),
        400: problem(
          "The event is not waiting.",
          "the event is Succeeded; only one that is Pending or WaitingRetry can be cancelled",
        ),
        403: problem(
          "The caller is a Viewer, or the event belongs to another tenant.",
          "only Developer or above may cancel events", othersEvent,
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.acts.act("cancel", call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn({
      id: "searchEvents",
      route: "GET /api/v1/events/search",
      access: read,
      isLarge: true,
      tag: "Events",
      summary: "Search payloads",
      description:
        "A scan of the payloads of the events that match the filters of the list, newest first, with exactly one of " +
        "`Text` and `Pointer` with `Value`. Each line has an event that was found, as a summary, and what matched; " +
        "the last one says how far the search came. It ends after 100 hits, " +
        "5 seconds or 200,000 events, whichever is first: `nextCursor` goes on from there. `Text` is looked for in " +
        "the JSON text as it is delivered, with the escape sequences of its names and strings decoded: `\\u00eb` is " +
        "found as `\u00eb`. `Value` is compared with the text at `Pointer`, or with the JSON text of a number, " +
        "boolean or null there: with a number as it is written in the payload, or in its shortest form of up to 15 " +
        "characters. Prefer the list's filters where they will do: they have indexes.",
      query: eventSearchQuery,
      answers: {
        200: lines(
          "event-search-line", "The events that were found.",
          { item: eventSummary, match: '{"order":4711,"customer":"Zo\u00eb"' },
          { end: true, scanned: 20480, until: event.acceptedAt, nextCursor: null },
        ),
        400: problem(
          "A parameter is not valid, or the condition is missing.",
          "Text: or Pointer and Value are required", "Pointer: must be a JSON Pointer (RFC 6901), such as /customer/id",
        ),
        404: unnamedDestination,
        503: problem(
          "Two searches of the tenant are under way, or the storage cannot be reached.",
          "2 searches are under way; try again when one is done",
        ),
      },
    }, async (call) => {
      const { filters, ...place } = call.input;
      const [sessionId] = credentialIdsOf(call.caller);
      const request = { ...place, filter: filterOf(filters), condition: conditionOf(filters), sessionId };
      const lines = await queries.search.search(call.caller, request, call.over());
      return { status: 200, type: jsonLines, stream: linesOf(lines), holds: linesBytes };
    }),
    signedIn({
      id: "exportEvents",
      route: "GET /api/v1/events/export",
      access: read,
      isLarge: true,
      tag: "Events",
      summary: "Export events",
      description:
        "Every event that matches the filters of the list and was accepted before the request, in order of " +
        "acceptance, each as it is when its turn comes; those that are purged meanwhile may be missing. `Include` " +
        "adds the attempts, the history, or both. Without its last line an export is incomplete: ask for it again.",
      query: eventExportQuery,
      answers: {
        200: lines(
          "event-export-line", "The events.", { item: { ...event, attempts: [attempt], history: [fact] } },
          { end: true, count: 1, position: fact.position },
        ),
        400: problem(
          "A parameter is not valid, or is one of pages.",
          "Qt: is not possible here: an export has all events, in order of acceptance",
          "Include: must be one of attempts, history",
        ),
        404: unnamedDestination,
      },
    }, async ({ caller, input, over }) => {
      const { Include: included = [], ...filters } = input;
      const barred = included.includes("history") ? barrier(caller, readHistory) : undefined;
      if (barred !== undefined) refuse("forbidden", barred);
      const parts = await queries.export.export(caller, filterOf(filters), included, over());
      return { status: 200, type: jsonLines, stream: exportLinesOf(parts), holds: linesBytes };
    }),
  ];
}

function filterOf(given: Inputs["countEvents"]): EventListFilter {
  const { Status, EventType: eventType, OwnerId: ownerId, CorrelationId: correlationId, Test: test } = given;
  return {
    statuses: Status && [...new Set(Status)],
    destinationUrlId: given.DestinationUrlId?.toLowerCase(),
    senderId: given.SenderId?.toLowerCase(),
    eventType,
    ownerId,
    messageId: given.MessageId?.toLowerCase(),
    tags: given.Tag?.map((text) => parseTag("Tag", text)),
    correlationId,
    test,
    from: parseOptionalDateTime("From", given.From),
    to: parseOptionalDateTime("To", given.To),
    finishedFrom: parseOptionalDateTime("FinishedFrom", given.FinishedFrom),
    finishedTo: parseOptionalDateTime("FinishedTo", given.FinishedTo),
    replayId: given.ReplayId?.toLowerCase(),
    idempotencyKey: given.IdempotencyKey,
  };
}

function conditionOf({ Text: text, Pointer: pointer, Value: value }: Inputs["searchEvents"]): PayloadCondition {
  if (text !== undefined) {
    if (pointer !== undefined) refuse("invalid", "Pointer: must not be given together with Text");
    if (value !== undefined) refuse("invalid", "Value: must not be given together with Text");
    return { text };
  }
  if (pointer === undefined) {
    const isBare = value === undefined;
    refuse("invalid", isBare ? "Text: or Pointer and Value are required" : "Pointer: is required with Value");
  }
  if (!isPointer(pointer)) refuse("invalid", "Pointer: must be a JSON Pointer (RFC 6901), such as /customer/id");
  return value === undefined ? refuse("invalid", "Value: is required with Pointer") : { pointer, value };
}
