import type { Services } from "../../application/services.ts";
import { access, usersOnly } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { historyLists, lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const write = usersOnly("Developer");

/** API keys of the caller's tenant. */
export function apiKeyRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(write, "POST", "/api/v1/api-keys", bodies.createApiKey, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.apiKeys.issue(caller, input, origin),
    })),
    signedInQuery(read, "/api/v1/api-keys", lists.apiKeys, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.apiKeys.list(caller, page),
    })),
    signedInQuery(readHistory, "/api/v1/api-keys/:id/history", historyLists.apiKey, async (call) => ({
      status: 200,
      body: await queries.apiKeys.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn(write, "DELETE", "/api/v1/api-keys/:id", async (call) => {
      await commands.apiKeys.revoke(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
