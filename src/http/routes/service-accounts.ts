import type { Services } from "../../application/services.ts";
import { access, usersOnly } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { uuidOf } from "../requests/identifiers.ts";
import { historyLists, lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const manage = usersOnly("Admin");

const path = "/api/v1/service-accounts";

/** Service accounts of the caller's tenant, and their keys. */
export function serviceAccountRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(manage, "POST", path, bodies.createServiceAccount, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.serviceAccounts.create(caller, input, origin),
    })),
    signedInQuery(read, path, lists.serviceAccounts, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.serviceAccounts.list(caller, page),
    })),
    signedIn(read, "GET", `${path}/:id`, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.get(call.caller, pathId(call)),
    })),
    signedInQuery(readHistory, `${path}/:id/history`, historyLists.serviceAccount, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInWith(manage, "PATCH", `${path}/:id`, bodies.updateServiceAccount, async (call) => ({
      status: 200,
      body: await commands.serviceAccounts.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn(manage, "DELETE", `${path}/:id`, async (call) => {
      await commands.serviceAccounts.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedInWith(manage, "POST", `${path}/:id/keys`, bodies.createServiceKey, async (call) => ({
      status: 201,
      body: await commands.serviceAccounts.issueKey(call.caller, pathId(call), call.input, call.origin),
    })),
    signedInQuery(read, `${path}/:id/keys`, lists.serviceKeys, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.keys(call.caller, pathId(call), call.input.page),
    })),
    signedIn(manage, "DELETE", `${path}/:id/keys/:keyId`, async (call) => {
      const keyId = uuidOf(call.params["keyId"] ?? "");
      await commands.serviceAccounts.revokeKey(call.caller, pathId(call), keyId, call.origin);
      return { status: 204 };
    }),
  ];
}
