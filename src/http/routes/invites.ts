import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { historyLists, lists } from "../requests/list-queries.ts";
import { openWith, originOf, pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", "users:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Admin", "users:write");

/** Invites to the caller's tenant, and registration by invite. */
export function inviteRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(write, "POST", "/api/v1/invites", bodies.createInvite, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.invites.create(caller, input, origin),
    })),
    signedInQuery(read, "/api/v1/invites", lists.invites, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.invites.list(caller, page),
    })),
    signedInQuery(readHistory, "/api/v1/invites/:id/history", historyLists.invite, async (call) => ({
      status: 200,
      body: await queries.invites.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn(write, "DELETE", "/api/v1/invites/:id", async (call) => {
      await commands.invites.revoke(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    openWith("POST", "/api/v1/invites/:token/register", bodies.register, async (exchange, read) => {
      // Every request counts, malformed ones too.
      await commands.invites.admitRegistration(exchange.address);
      const { password } = await read();
      const origin = originOf({ type: "anonymous" }, exchange.requestId);
      const token = exchange.params["token"] ?? "";
      return { status: 201, body: await commands.invites.register(token, password, origin, exchange.address) };
    }),
  ];
}
