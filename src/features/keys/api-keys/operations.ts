import createApiKey from "../../../../schemas/requests/create-api-key.json" with { type: "json" };
import listApiKeys from "../../../../schemas/requests/list-api-keys.json" with { type: "json" };
import rotateKey from "../../../../schemas/requests/rotate-key.json" with { type: "json" };
import { access, usersOnly } from "../../../kernel/operations/access.ts";
import { facts, json, nothing, page, problem } from "../../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../../kernel/operations/operation.ts";
import { apiKey, apiKeyFact, token } from "../../examples.ts";
import { typesOf } from "../../facts.ts";
import { historyLists, historyRequest } from "../../history.ts";
import type { Services } from "../../services.ts";

const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const write = usersOnly("Developer");
const id = "The API key's id.";
const tag = "API keys";
const othersKey = "the API key belongs to another tenant";

/** API keys of the caller's tenant. */
export function apiKeyOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createApiKey",
      route: "POST /api/v1/api-keys",
      access: write,
      tag,
      summary: "Issue an API key",
      description:
        "`expiresAt` is an ISO 8601 date or date-time in the future; a key without one never " +
        "expires, and `null` is not a date.",
      body: createApiKey,
      examples: {
        "for good": { name: "order service" },
        "for a time": { name: "migration", expiresAt: "2030-01-31T23:59:59.000Z" },
      },
      answers: {
        201: json("created-api-key", "The key, shown here only.", { ...apiKey, apiKey: `rk_${token}` }),
        403: problem("The caller is a Viewer.", "only Developer or above may issue API keys"),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.apiKeys.issue(caller, input, origin),
    })),
    signedIn({
      id: "listApiKeys",
      route: "GET /api/v1/api-keys",
      access: read,
      tag,
      summary: "List API keys",
      description: "Deleted keys are not part of it.",
      list: listApiKeys,
      answers: { 200: page("api-key", "A page of API keys.", apiKey) },
    }, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.apiKeys.list(caller, page),
    })),
    signedIn({
      id: "listApiKeyHistory",
      route: "GET /api/v1/api-keys/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List an API key's history",
      description:
        "Who issued it and who deleted it, and when. The events accepted with the key show its uses; the " +
        "latest use is noted here before a purge takes them. Stays readable when the key is deleted.\n\n" +
        typesOf("apiKey"),
      parameters: { id },
      list: historyLists.apiKey,
      answers: {
        200: facts(apiKeyFact),
        403: problem("The key belongs to another tenant.", othersKey),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.apiKeys.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "rotateApiKey",
      route: "POST /api/v1/api-keys/:id/rotate",
      access: write,
      tag,
      summary: "Rotate an API key",
      description:
        "Issues a key of the same name in place of this one, which works on for `overlapSeconds`: give the new one " +
        "to the producer in that time, and no post is refused. A key that ends earlier keeps its end. The new one " +
        "lives as long as the old one was issued for, from now.",
      parameters: { id },
      body: rotateKey,
      examples: { "with a day for the change": { overlapSeconds: 86_400 }, "the old key ends now": {} },
      answers: {
        201: json("created-api-key", "The new key, shown here only.", { ...apiKey, apiKey: `rk_${token}` }),
        403: problem(
          "The caller is a Viewer, or the key belongs to another tenant.",
          "only Developer or above may rotate API keys", othersKey,
        ),
      },
    }, async (call) => ({
      status: 201,
      body: await commands.apiKeys.rotate(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteApiKey",
      route: "DELETE /api/v1/api-keys/:id",
      access: write,
      tag,
      summary: "Delete an API key",
      description: "The key stops working at once. Its history stays readable.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller is a Viewer, or the key belongs to another tenant.",
          "only Developer or above may revoke API keys", othersKey,
        ),
      },
    }, async (call) => {
      await commands.apiKeys.revoke(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
