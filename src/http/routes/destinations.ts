import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { asOfQuery, historyLists, lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", "destinations:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Developer", "destinations:write");
const test = access("Developer", "events:write");

/** Destinations of the caller's tenant. */
export function destinationRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(write, "POST", "/api/v1/destinations", bodies.createDestination, async (call) => ({
      status: 201,
      body: await commands.destinations.register(call.caller, call.input, call.origin),
    })),
    signedInQuery(read, "/api/v1/destinations", lists.destinations, async ({ caller, input: { page, filters } }) => ({
      status: 200,
      body: await queries.destinations.list(caller, { status: filters.Status }, page),
    })),
    signedInQuery(read, "/api/v1/destinations/:id", asOfQuery, async (call) => ({
      status: 200,
      body: await queries.destinations.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedInQuery(readHistory, "/api/v1/destinations/:id/history", historyLists.destination, async (call) => ({
      status: 200,
      body: await queries.destinations.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInQuery(readHistory, "/api/v1/destinations/:id/circuit/history", historyLists.circuit, async (call) => ({
      status: 200,
      body: await queries.destinations.circuitHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInWith(write, "PATCH", "/api/v1/destinations/:id", bodies.updateDestination, async (call) => ({
      status: 200,
      body: await commands.destinations.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn(write, "DELETE", "/api/v1/destinations/:id", async (call) => {
      await commands.destinations.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedInWith(test, "POST", "/api/v1/destinations/:id/test", bodies.testDestination, async (call) => ({
      status: 202,
      body: await commands.testEvents.send(call.caller, pathId(call), call.input, call.origin, call.holdAnswer),
    })),
    signedIn(write, "POST", "/api/v1/destinations/:id/ingest-token", async (call) => {
      const id = pathId(call);
      const ingestToken = await commands.destinations.regenerateToken(call.caller, id, call.origin);
      return { status: 200, body: { ingestToken } };
    }),
  ];
}
