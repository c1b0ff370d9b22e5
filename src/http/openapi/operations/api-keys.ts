import { bodies } from "../../bodies.ts";
import { lists } from "../../lists.ts";
import { apiKey, pageOf, token } from "../examples.ts";
import { json, nothing, problem, type Operation } from "../operation.ts";

const tag = "API keys";

/** API keys of the caller's tenant. */
export const apiKeyOperations: readonly Operation[] = [
  {
    id: "createApiKey",
    method: "POST",
    path: "/api/v1/api-keys",
    tag,
    summary: "Issue an API key",
    description:
      "Developer or above. `expiresAt` is an ISO 8601 date or date-time in the future; a key without one never " +
      "expires, and `null` is not a date.",
    security: "bearer",
    body: {
      schema: bodies.createApiKey.schema,
      examples: {
        "for good": { name: "order service" },
        "for a time": { name: "migration", expiresAt: "2030-01-31T23:59:59.000Z" },
      },
    },
    answers: {
      201: json("created-api-key", "The key, shown here only.", { ...apiKey, apiKey: `rk_${token}` }),
      403: problem("The caller is a Viewer.", "only Developer or above may issue API keys"),
    },
  },
  {
    id: "listApiKeys",
    method: "GET",
    path: "/api/v1/api-keys",
    tag,
    summary: "List API keys",
    description: "Any role. Deleted keys are not part of it.",
    security: "bearer",
    query: lists.apiKeys,
    answers: { 200: json("api-key-page", "A page of API keys.", pageOf(apiKey)) },
  },
  {
    id: "deleteApiKey",
    method: "DELETE",
    path: "/api/v1/api-keys/:id",
    tag,
    summary: "Delete an API key",
    description: "Developer or above. The key stops working at once.",
    security: "bearer",
    parameters: { id: "The API key's id." },
    answers: {
      204: nothing("Deleted."),
      403: problem(
        "The caller is a Viewer, or the key belongs to another tenant.",
        "only Developer or above may revoke API keys", "the API key belongs to another tenant",
      ),
    },
  },
];
