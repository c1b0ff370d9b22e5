import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { json } from "../answers/send.ts";
import { bodies } from "../requests/body-schemas.ts";
import { historyRequest } from "../requests/history-request.ts";
import { asOfQuery, historyLists, lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", "senders:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Developer", "senders:write");

/** Senders of the caller's tenant. */
export function senderRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(write, "POST", "/api/v1/senders", bodies.createSender, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.senders.create(caller, input, origin),
    })),
    signedInQuery(read, "/api/v1/senders", lists.senders, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.senders.list(caller, page),
    })),
    signedInQuery(read, "/api/v1/senders/:id", asOfQuery, async (call) => ({
      status: 200,
      body: await queries.senders.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedInQuery(readHistory, "/api/v1/senders/:id/history", historyLists.sender, async (call) => ({
      status: 200,
      body: await queries.senders.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedInWith(write, "PATCH", "/api/v1/senders/:id", bodies.updateSender, async (call) => ({
      status: 200,
      body: await commands.senders.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn(write, "DELETE", "/api/v1/senders/:id", async (call) => {
      await commands.senders.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn(write, "POST", "/api/v1/senders/:id/ingest-token", async (call) => {
      const ingestToken = await commands.senders.regenerateToken(call.caller, pathId(call), call.origin);
      return { status: 200, body: { ingestToken } };
    }),
    signedInWith(read, "POST", "/api/v1/senders/:id/test-mapping", bodies.testMapping, async (call) => {
      const result = await queries.senders.testMapping(call.caller, pathId(call), call.input.payload);
      // The very text that would be delivered: parsed once more, it would lose digits.
      return { status: 200, type: json, text: `{"result":${result}}` };
    }),
    signedInWith(read, "POST", "/api/v1/mappings/test", bodies.tryMapping, async ({ caller, input }) => {
      const result = await queries.senders.tryMapping(caller, input.mapping, input.payload);
      return { status: 200, type: json, text: `{"result":${result},"text":${JSON.stringify(result)}}` };
    }),
  ];
}
