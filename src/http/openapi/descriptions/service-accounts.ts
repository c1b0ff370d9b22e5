import { facts, json, nothing, page, problem, type Descriptions } from "../description.ts";
import { serviceAccount, serviceAccountFact, serviceKey, token } from "../examples.ts";
import { typesOf } from "../facts/fact-types.ts";

const id = "The service account's id.";
const tag = "Service accounts";
const others = "the service account belongs to another tenant";
const lacksRole = "only Admin or above may manage service accounts and their keys";
const notAUser = "only a user may do this, not a service account";
const roleNames = "`role` may also be given by its name, as answers have it.";
const whoNot = "The caller's role is below Admin, or the caller is a service account";
const { name, scopes } = serviceKey;

/** Service accounts of the caller's tenant, and their keys. */
export const serviceAccountDescriptions: Descriptions = {
  "POST /api/v1/service-accounts": {
    id: "createServiceAccount",
    tag,
    summary: "Create a service account",
    description: `It has no key at first. Its role is never Owner, and never above the caller's own. ${roleNames}`,
    examples: {
      "a Developer": { name: serviceAccount.name, role: 0 },
      "switched off at first": { name: serviceAccount.name, role: 20, status: "inactive" },
    },
    answers: {
      201: json("service-account", "The service account.", serviceAccount),
      403: problem(`${whoNot}.`, lacksRole, notAUser),
    },
  },
  "GET /api/v1/service-accounts": {
    id: "listServiceAccounts",
    tag,
    summary: "List service accounts",
    description: "Deleted ones are not part of it.",
    answers: { 200: page("service-account", "A page of service accounts.", serviceAccount) },
  },
  "GET /api/v1/service-accounts/:id": {
    id: "getServiceAccount",
    tag,
    summary: "Get a service account",
    parameters: { id },
    answers: {
      200: json("service-account", "The service account.", serviceAccount),
      403: problem("The service account belongs to another tenant.", others),
    },
  },
  "GET /api/v1/service-accounts/:id/history": {
    id: "listServiceAccountHistory",
    tag,
    summary: "List a service account's history",
    description:
      "Every change of its name, role and status, and of its keys: by whom and when. Stays readable when the service " +
      `account is deleted.\n\n${typesOf("serviceAccount")}`,
    parameters: { id },
    answers: {
      200: facts(serviceAccountFact),
      403: problem("The service account belongs to another tenant.", others),
    },
  },
  "PATCH /api/v1/service-accounts/:id": {
    id: "updateServiceAccount",
    tag,
    summary: "Change a service account",
    description:
      "Absent fields stay unchanged. Another role counts for all its keys at once. While a service account is " +
      `Inactive, its keys give 401. ${roleNames}`,
    parameters: { id },
    examples: { "another role": { role: 20 }, "switch off": { status: "inactive" } },
    answers: {
      200: json("service-account", "The service account as it is now.", { ...serviceAccount, status: "Inactive" }),
      403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
    },
  },
  "DELETE /api/v1/service-accounts/:id": {
    id: "deleteServiceAccount",
    tag,
    summary: "Delete a service account",
    description: "All its keys stop working at once. Its history stays readable.",
    parameters: { id },
    answers: {
      204: nothing("Deleted."),
      403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
    },
  },
  "POST /api/v1/service-accounts/:id/keys": {
    id: "createServiceKey",
    tag,
    summary: "Issue a service key",
    description:
      "The key is sent as `Authorization: Bearer rsk_…`. It may do what the account's role and its own scopes both " +
      "allow; without `scopes` all that the role may. `expiresAt` is an ISO 8601 date or date-time in the future; a " +
      "key without one never expires. A service account has 100 keys at most. With `users:write`, or without scopes, " +
      "the key's holder can become any person up to the account's role: it may create users and set passwords, and " +
      "then sign in as them.",
    parameters: { id },
    examples: {
      "for some things": { name, scopes },
      "for all that the role may, for a time": { name: "migration", expiresAt: "2030-01-31T23:59:59.000Z" },
    },
    answers: {
      201: json("created-service-key", "The key, shown here only.", { ...serviceKey, key: `rsk_${token}` }),
      403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
      422: problem(
        "The service account has the most keys that it can have.",
        "the service account has 100 keys, which is the most; delete one",
      ),
    },
  },
  "GET /api/v1/service-accounts/:id/keys": {
    id: "listServiceKeys",
    tag,
    summary: "List the keys of a service account",
    description: "Deleted keys are not part of it.",
    parameters: { id },
    answers: {
      200: page("service-key", "A page of service keys.", serviceKey),
      403: problem("The service account belongs to another tenant.", others),
    },
  },
  "DELETE /api/v1/service-accounts/:id/keys/:keyId": {
    id: "deleteServiceKey",
    tag,
    summary: "Delete a service key",
    description: "The key stops working at once.",
    parameters: { id, keyId: "The key's id." },
    answers: {
      204: nothing("Deleted."),
      403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
      404: problem(
        "No such service account, or it has no such key.", "service account not found", "service key not found",
      ),
    },
  },
};
