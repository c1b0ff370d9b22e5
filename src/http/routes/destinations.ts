import type { Services } from "../../application/services.ts";
import { bodies } from "../requests/body-schemas.ts";
import { lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

/** Destinations of the caller's tenant. */
export function destinationRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith("POST", "/api/v1/destinations", bodies.createDestination, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.destinations.register(caller, input, origin),
    })),
    signedInQuery("/api/v1/destinations", lists.destinations, async ({ caller, input: { page, filters } }) => ({
      status: 200,
      body: await queries.destinations.list(caller, { status: filters.Status }, page),
    })),
    signedIn("GET", "/api/v1/destinations/:id", async (call) => ({
      status: 200,
      body: await queries.destinations.get(call.caller, pathId(call)),
    })),
    signedInQuery("/api/v1/destinations/:id/history", lists.history, async (call) => ({
      status: 200,
      body: await queries.destinations.history(call.caller, pathId(call), call.input.page),
    })),
    signedInQuery("/api/v1/destinations/:id/circuit/history", lists.history, async (call) => ({
      status: 200,
      body: await queries.destinations.circuitHistory(call.caller, pathId(call), call.input.page),
    })),
    signedInWith("PATCH", "/api/v1/destinations/:id", bodies.updateDestination, async (call) => ({
      status: 200,
      body: await commands.destinations.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn("DELETE", "/api/v1/destinations/:id", async (call) => {
      await commands.destinations.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn("POST", "/api/v1/destinations/:id/ingest-token", async (call) => {
      const id = pathId(call);
      const ingestToken = await commands.destinations.regenerateToken(call.caller, id, call.origin);
      return { status: 200, body: { ingestToken } };
    }),
  ];
}
