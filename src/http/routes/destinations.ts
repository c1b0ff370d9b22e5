import type { Services } from "../../application/services.ts";
import { bodies } from "../bodies.ts";
import { lists } from "../lists.ts";
import { signedIn, signedInWith, type Route } from "../route.ts";
import { pathId } from "./path-id.ts";

/** Destinations of the caller's tenant. */
export function destinationRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith("POST", "/api/v1/destinations", bodies.createDestination, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.destinations.register(caller, input, origin),
    })),
    signedIn("GET", "/api/v1/destinations", async ({ caller, query }) => {
      const { page, filters: { Status: status } } = lists.destinations(query);
      return { status: 200, body: await queries.destinations.list(caller, { status }, page) };
    }),
    signedIn("GET", "/api/v1/destinations/:id", async (call) => ({
      status: 200,
      body: await queries.destinations.get(call.caller, pathId(call, "destination")),
    })),
    signedIn("GET", "/api/v1/destinations/:id/history", async (call) => {
      const { page } = lists.history(call.query);
      return { status: 200, body: await queries.destinations.history(call.caller, pathId(call, "destination"), page) };
    }),
    signedIn("GET", "/api/v1/destinations/:id/circuit/history", async (call) => {
      const { page } = lists.history(call.query);
      const id = pathId(call, "destination");
      return { status: 200, body: await queries.destinations.circuitHistory(call.caller, id, page) };
    }),
    signedInWith("PATCH", "/api/v1/destinations/:id", bodies.updateDestination, async (call) => ({
      status: 200,
      body: await commands.destinations.change(call.caller, pathId(call, "destination"), call.input, call.origin),
    })),
    signedIn("DELETE", "/api/v1/destinations/:id", async (call) => {
      await commands.destinations.remove(call.caller, pathId(call, "destination"), call.origin);
      return { status: 204 };
    }),
    signedIn("POST", "/api/v1/destinations/:id/ingest-token", async (call) => {
      const id = pathId(call, "destination");
      const ingestToken = await commands.destinations.regenerateToken(call.caller, id, call.origin);
      return { status: 200, body: { ingestToken } };
    }),
  ];
}
