import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", "events:read");
const write = access("Developer", "events:write");

/** Replays of the caller's tenant, which run in the background. */
export function replayRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(write, "POST", "/api/v1/replays", bodies.orderReplay, async ({ caller, input, origin }) => {
      const result = await commands.replays.order(caller, input, origin);
      return "counted" in result ? { status: 200, body: result.counted } : { status: 202, body: result.ordered };
    }),
    signedInQuery(read, "/api/v1/replays", lists.replays, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.replays.list(caller, page),
    })),
    signedIn(read, "GET", "/api/v1/replays/:id", async (call) => ({
      status: 200,
      body: await queries.replays.get(call.caller, pathId(call)),
    })),
    signedIn(write, "POST", "/api/v1/replays/:id/cancel", async (call) => ({
      status: 200,
      body: await commands.replays.cancel(call.caller, pathId(call), call.origin),
    })),
  ];
}
