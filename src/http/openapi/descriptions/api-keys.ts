import { facts, json, nothing, page, problem, type Descriptions } from "../description.ts";
import { apiKey, apiKeyFact, token } from "../examples.ts";
import { typesOf } from "../facts/fact-types.ts";

const id = "The API key's id.";
const tag = "API keys";
const othersKey = "the API key belongs to another tenant";

/** API keys of the caller's tenant. */
export const apiKeyDescriptions: Descriptions = {
  "POST /api/v1/api-keys": {
    id: "createApiKey",
    tag,
    summary: "Issue an API key",
    description:
      "`expiresAt` is an ISO 8601 date or date-time in the future; a key without one never " +
      "expires, and `null` is not a date.",
    examples: {
      "for good": { name: "order service" },
      "for a time": { name: "migration", expiresAt: "2030-01-31T23:59:59.000Z" },
    },
    answers: {
      201: json("created-api-key", "The key, shown here only.", { ...apiKey, apiKey: `rk_${token}` }),
      403: problem("The caller is a Viewer.", "only Developer or above may issue API keys"),
    },
  },
  "GET /api/v1/api-keys": {
    id: "listApiKeys",
    tag,
    summary: "List API keys",
    description: "Deleted keys are not part of it.",
    answers: { 200: page("api-key", "A page of API keys.", apiKey) },
  },
  "GET /api/v1/api-keys/:id/history": {
    id: "listApiKeyHistory",
    tag,
    summary: "List an API key's history",
    description:
      "Who issued it and who deleted it, and when. The events accepted with the key show its uses; the " +
      "latest use is noted here before a purge takes them. Stays readable when the key is deleted.\n\n" +
      typesOf("apiKey"),
    parameters: { id },
    answers: {
      200: facts(apiKeyFact),
      403: problem("The key belongs to another tenant.", othersKey),
    },
  },
  "DELETE /api/v1/api-keys/:id": {
    id: "deleteApiKey",
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
  },
};
