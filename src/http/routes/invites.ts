import type { Services } from "../../application/services.ts";
import { bodies } from "../bodies.ts";
import { lists } from "../lists.ts";
import { originOf, signedIn, signedInWith, type Route } from "../route.ts";
import { pathId } from "./path-id.ts";

/** Invites to the caller's tenant, and the way in for who was invited. */
export function inviteRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith("POST", "/api/v1/invites", bodies.createInvite, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.invites.create(caller, input, origin),
    })),
    signedIn("GET", "/api/v1/invites", async ({ caller, query }) => ({
      status: 200,
      body: await queries.invites.list(caller, lists.invites(query).page),
    })),
    signedIn("GET", "/api/v1/invites/:id/history", async (call) => {
      const { page } = lists.history(call.query);
      return { status: 200, body: await queries.invites.history(call.caller, pathId(call, "invite"), page) };
    }),
    signedIn("DELETE", "/api/v1/invites/:id", async (call) => {
      await commands.invites.revoke(call.caller, pathId(call, "invite"), call.origin);
      return { status: 204 };
    }),
    {
      method: "POST",
      path: "/api/v1/invites/:token/register",
      run: async (exchange) => {
        // Every request counts, malformed ones too.
        await commands.invites.admitRegistration(exchange.address);
        const { password } = bodies.register(await exchange.body());
        const origin = originOf({ type: "anonymous" }, exchange.requestId);
        const token = exchange.params["token"] ?? "";
        return { status: 201, body: await commands.invites.register(token, password, origin) };
      },
    },
  ];
}
