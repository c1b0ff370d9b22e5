import { checkPlainText, parseDateTime } from "../../application/commands/input-rules.ts";
import type { Services } from "../../application/services.ts";
import { eventTotalsQuery, lists, type EventFilters } from "../lists.ts";
import { signedIn, type Route } from "../route.ts";
import { pathId } from "./path-id.ts";

/** Accepted events of the caller's tenant. */
export function eventRoutes({ commands, queries }: Services): Route[] {
  return [
    signedIn("GET", "/api/v1/events", async ({ caller, query }) => {
      const { page, filters: { IdempotencyKey: idempotencyKey, ...filters } } = lists.events(query);
      if (idempotencyKey !== undefined) checkPlainText("IdempotencyKey", idempotencyKey);
      const filter = { ...filterOf(filters), idempotencyKey };
      return { status: 200, body: await queries.events.list(caller, filter, page) };
    }),
    signedIn("GET", "/api/v1/events/totals", async ({ caller, query }) => ({
      status: 200,
      body: await queries.events.totals(caller, filterOf(eventTotalsQuery(query))),
    })),
    signedIn("GET", "/api/v1/events/:id", async (call) => ({
      status: 200,
      body: await queries.events.get(call.caller, pathId(call, "event")),
    })),
    signedIn("GET", "/api/v1/events/:id/attempts", async (call) => {
      const { page } = lists.attempts(call.query);
      return { status: 200, body: await queries.events.attempts(call.caller, pathId(call, "event"), page) };
    }),
    signedIn("GET", "/api/v1/events/:id/history", async (call) => {
      const { page } = lists.history(call.query);
      return { status: 200, body: await queries.events.history(call.caller, pathId(call, "event"), page) };
    }),
    signedIn("POST", "/api/v1/events/:id/replay", async (call) => ({
      status: 200,
      body: await commands.events.replay(call.caller, pathId(call, "event"), call.origin),
    })),
    signedIn("POST", "/api/v1/events/:id/cancel", async (call) => ({
      status: 200,
      body: await commands.events.cancel(call.caller, pathId(call, "event"), call.origin),
    })),
  ];
}

/** What the filters mean. Throws a Refusal (invalid). */
function filterOf({ Status: status, DestinationUrlId, From, To }: EventFilters) {
  return {
    status,
    destinationUrlId: DestinationUrlId?.toLowerCase(),
    from: From === undefined ? undefined : parseDateTime("From", From),
    to: To === undefined ? undefined : parseDateTime("To", To),
  };
}
