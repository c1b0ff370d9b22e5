import { parseOptionalDateTime, parseTag } from "../../application/input-rules.ts";
import type { EventListFilter } from "../../application/queries/events.ts";
import type { Services } from "../../application/services.ts";
import { isPointer, type PayloadCondition } from "../../domain/event/payload-condition.ts";
import { refuse } from "../../domain/refusal.ts";
import { access, barrier } from "../access.ts";
import { exportLinesOf, jsonLines, linesBytes, linesOf } from "../answers/lines.ts";
import { historyRequest } from "../requests/history-request.ts";
import {
  asOfQuery, eventExportQuery, eventSearchQuery, eventTotalsQuery, historyLists, lists, type EventFilters,
  type SearchParameters,
} from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, type Route } from "../route.ts";

const read = access("Viewer", "events:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Developer", "events:write");

/** Accepted events of the caller's tenant. */
export function eventRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInQuery(read, "/api/v1/events", lists.events, async ({ caller, input }) => {
      const { page, filters: { View: view, ...filters } } = input;
      const filter = filterOf(filters);
      if (view === "summary") return { status: 200, page: await queries.events.summaries(caller, filter, page) };
      return { status: 200, page: await queries.events.list(caller, filter, page) };
    }),
    signedInQuery(read, "/api/v1/events/search", eventSearchQuery, async (call) => {
      const { filters, ...place } = call.input;
      const request = { ...place, filter: filterOf(filters), condition: conditionOf(filters) };
      const lines = await queries.search.search(call.caller, request, call.gone());
      return { status: 200, type: jsonLines, stream: linesOf(lines), holds: linesBytes };
    }),
    signedInQuery(read, "/api/v1/events/export", eventExportQuery, async ({ caller, input }) => {
      const { Include: included = [], ...filters } = input;
      const barred = included.includes("history") ? barrier(caller, readHistory) : undefined;
      if (barred !== undefined) refuse("forbidden", barred);
      const parts = await queries.export.export(caller, filterOf(filters), included);
      return { status: 200, type: jsonLines, stream: exportLinesOf(parts), holds: linesBytes };
    }),
    signedInQuery(read, "/api/v1/events/totals", eventTotalsQuery, async ({ caller, input }) => ({
      status: 200,
      body: await queries.events.totals(caller, filterOf(input)),
    })),
    signedInQuery(read, "/api/v1/events/:id", asOfQuery, async (call) => ({
      status: 200,
      body: await queries.events.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedInQuery(read, "/api/v1/events/:id/attempts", lists.attempts, async (call) => ({
      status: 200,
      page: await queries.events.attempts(call.caller, pathId(call), call.input.page),
    })),
    signedInQuery(readHistory, "/api/v1/events/:id/history", historyLists.event, async (call) => ({
      status: 200,
      page: await queries.events.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInQuery(readHistory, "/api/v1/events/:id/story", asOfQuery, async (call) => ({
      status: 200,
      body: await queries.events.story(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn(write, "POST", "/api/v1/events/:id/replay", async (call) => ({
      status: 200,
      body: await commands.events.replay(call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn(write, "POST", "/api/v1/events/:id/resend", async (call) => ({
      status: 200,
      body: await commands.events.resend(call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn(write, "POST", "/api/v1/events/:id/retry", async (call) => ({
      status: 200,
      body: await commands.events.retry(call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
    signedIn(write, "POST", "/api/v1/events/:id/cancel", async (call) => ({
      status: 200,
      body: await commands.events.cancel(call.caller, pathId(call), call.origin, call.holdAnswer),
    })),
  ];
}

/** The filter that the parameters describe. Throws a Refusal (invalid). */
function filterOf(given: EventFilters): EventListFilter {
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
    idempotencyKey: given.IdempotencyKey,
  };
}

/** The one condition on payloads that the parameters describe. Throws a Refusal (invalid). */
function conditionOf({ Text: text, Pointer: pointer, Value: value }: SearchParameters): PayloadCondition {
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
