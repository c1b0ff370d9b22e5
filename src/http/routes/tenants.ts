import type { Services } from "../../application/services.ts";
import { access, usersOnly } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { asOfQuery, historyLists } from "../requests/list-queries.ts";
import { openWith, originOf, pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const write = access("Admin", null);
const handleSecret = usersOnly("Developer");

const cancellationsPath = "/api/v1/tenants/:id/cancellations/history";

/** Tenants and their webhook secrets. */
export function tenantRoutes({ commands, queries }: Services): Route[] {
  return [
    openWith("POST", "/api/v1/tenants", bodies.createTenant, async ({ address, requestId }, read) => {
      // Every request counts, malformed ones too.
      await commands.tenants.admitCreation(address);
      const input = await read();
      const origin = originOf({ type: "anonymous" }, requestId);
      return { status: 201, body: await commands.tenants.create(input, origin, address) };
    }),
    signedInQuery(read, "/api/v1/tenants/:id", asOfQuery, async (call) => ({
      status: 200,
      body: await queries.tenants.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedInQuery(readHistory, "/api/v1/tenants/:id/history", historyLists.tenant, async (call) => ({
      status: 200,
      body: await queries.tenants.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInQuery(readHistory, "/api/v1/tenants/:id/purges/history", historyLists.purges, async (call) => ({
      status: 200,
      body: await queries.tenants.purgeHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInQuery(readHistory, "/api/v1/tenants/:id/replays/history", historyLists.replays, async (call) => ({
      status: 200,
      body: await queries.tenants.replayHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInQuery(readHistory, cancellationsPath, historyLists.cancellations, async (call) => ({
      status: 200,
      body: await queries.tenants.cancellationHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInWith(write, "PATCH", "/api/v1/tenants/:id", bodies.updateTenant, async (call) => ({
      status: 200,
      body: await commands.tenants.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn(handleSecret, "GET", "/api/v1/tenants/:id/webhook-secret", async (call) => ({
      status: 200,
      body: { webhookSecret: await queries.tenants.webhookSecret(call.caller, pathId(call)) },
    })),
    signedIn(handleSecret, "POST", "/api/v1/tenants/:id/webhook-secret", async (call) => {
      const id = pathId(call);
      const webhookSecret = await commands.tenants.regenerateWebhookSecret(call.caller, id, call.origin);
      return { status: 200, body: { webhookSecret } };
    }),
    signedInWith(read, "POST", "/api/v1/tenants/:id/webhook-secret/verify", bodies.verifySignature, async (call) => {
      const { payload, signature } = call.input;
      const id = pathId(call);
      const valid = await queries.tenants.verifySignature(call.caller, id, payload, signature);
      return { status: 200, body: { valid } };
    }),
  ];
}
