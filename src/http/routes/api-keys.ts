import type { Services } from "../../application/services.ts";
import { bodies } from "../bodies.ts";
import { lists } from "../lists.ts";
import { signedIn, signedInWith, type Route } from "../route.ts";
import { pathId } from "./path-id.ts";

/** API keys of the caller's tenant. */
export function apiKeyRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith("POST", "/api/v1/api-keys", bodies.createApiKey, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.apiKeys.issue(caller, input, origin),
    })),
    signedIn("GET", "/api/v1/api-keys", async ({ caller, query }) => ({
      status: 200,
      body: await queries.apiKeys.list(caller, lists.apiKeys(query).page),
    })),
    signedIn("GET", "/api/v1/api-keys/:id/history", async (call) => {
      const { page } = lists.history(call.query);
      return { status: 200, body: await queries.apiKeys.history(call.caller, pathId(call, "API key"), page) };
    }),
    signedIn("DELETE", "/api/v1/api-keys/:id", async (call) => {
      await commands.apiKeys.revoke(call.caller, pathId(call, "API key"), call.origin);
      return { status: 204 };
    }),
  ];
}
