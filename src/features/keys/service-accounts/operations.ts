import type { Inputs } from "../../../../schemas/api.ts";
import createServiceAccount from "../../../../schemas/requests/create-service-account.json" with { type: "json" };
import createServiceKey from "../../../../schemas/requests/create-service-key.json" with { type: "json" };
import listServiceAccounts from "../../../../schemas/requests/list-service-accounts.json" with { type: "json" };
import listServiceKeys from "../../../../schemas/requests/list-service-keys.json" with { type: "json" };
import rotateKey from "../../../../schemas/requests/rotate-key.json" with { type: "json" };
import updateServiceAccount from "../../../../schemas/requests/update-service-account.json" with { type: "json" };
import { uuidOf } from "../../../kernel/callers/input-rules.ts";
import { rolesByCode } from "../../../kernel/domain/roles.ts";
import { access, usersOnly } from "../../../kernel/operations/access.ts";
import { withSynonyms } from "../../../kernel/operations/body-reader.ts";
import { facts, json, nothing, page, problem } from "../../../kernel/operations/description.ts";
import { changeOf } from "../../../kernel/operations/extended.ts";
import { pathId, signedIn, type Exchange, type Operation } from "../../../kernel/operations/operation.ts";
import { serviceAccount, serviceAccountFact, serviceKey, token } from "../../examples.ts";
import { typesOf } from "../../facts.ts";
import { historyLists, historyRequest } from "../../history.ts";
import type { Services } from "../../services.ts";
import { statusesByCode } from "../../tenants/facts.ts";

const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const manage = usersOnly("Admin");
const changedAccount = changeOf(createServiceAccount, updateServiceAccount);
const id = "The service account's id.";
const keyId = "The key's id.";
const tag = "Service accounts";
const others = "the service account belongs to another tenant";
const lacksRole = "only Admin or above may manage service accounts and their keys";
const notAUser = "only a user may do this, not a service account";
const roleNames = "`role` may also be given by its name, as answers have it.";
const whoNot = "The caller's role is below Admin, or the caller is a service account";
const noSuchKey = problem(
  "No such service account, or it has no such key.", "service account not found", "service key not found",
);
const hasMostKeys = problem(
  "The service account has the most keys that it can have.",
  "the service account has 100 keys, which is the most; delete one",
);
const { name, scopes } = serviceKey;
/** A role may be given by its name, as answers have it, and a status by the code that a user has. */
const spellings = {
  role: Object.fromEntries(Object.entries(rolesByCode).map(([code, role]) => [role, Number(code)])),
  status: Object.fromEntries(Object.entries(statusesByCode).map(([code, status]) => [code, status.toLowerCase()])),
};

/** Service accounts of the caller's tenant, and their keys. */
export function serviceAccountOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createServiceAccount",
      route: "POST /api/v1/service-accounts",
      access: manage,
      tag,
      summary: "Create a service account",
      description: `It has no key at first. Its role is never Owner, and never above the caller's own. ${roleNames}`,
      body: withSynonyms<Inputs["createServiceAccount"]>(createServiceAccount, spellings),
      examples: {
        "a Developer": { name: serviceAccount.name, role: 0 },
        "switched off at first": { name: serviceAccount.name, role: 20, status: "inactive" },
      },
      answers: {
        201: json("service-account", "The service account.", serviceAccount),
        403: problem(`${whoNot}.`, lacksRole, notAUser),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.serviceAccounts.create(caller, input, origin),
    })),
    signedIn({
      id: "listServiceAccounts",
      route: "GET /api/v1/service-accounts",
      access: read,
      tag,
      summary: "List service accounts",
      description: "Deleted ones are not part of it.",
      list: listServiceAccounts,
      answers: { 200: page("service-account", "A page of service accounts.", serviceAccount) },
    }, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.serviceAccounts.list(caller, page),
    })),
    signedIn({
      id: "getServiceAccount",
      route: "GET /api/v1/service-accounts/:id",
      access: read,
      tag,
      summary: "Get a service account",
      parameters: { id },
      answers: {
        200: json("service-account", "The service account.", serviceAccount),
        403: problem("The service account belongs to another tenant.", others),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.get(call.caller, pathId(call)),
    })),
    signedIn({
      id: "listServiceAccountHistory",
      route: "GET /api/v1/service-accounts/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List a service account's history",
      description:
        "Every change of its name, role and status, and of its keys: by whom and when. Stays readable when the " +
        `service account is deleted.\n\n${typesOf("serviceAccount")}`,
      parameters: { id },
      list: historyLists.serviceAccount,
      answers: {
        200: facts(serviceAccountFact),
        403: problem("The service account belongs to another tenant.", others),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "updateServiceAccount",
      route: "PATCH /api/v1/service-accounts/:id",
      access: manage,
      tag,
      summary: "Change a service account",
      description:
        "Absent fields stay unchanged. Another role counts for all its keys at once. While a service account is " +
        `Inactive, its keys give 401. ${roleNames}`,
      parameters: { id },
      body: withSynonyms<Inputs["updateServiceAccount"]>(changedAccount, spellings),
      examples: { "another role": { role: 20 }, "switch off": { status: "inactive" } },
      answers: {
        200: json("service-account", "The service account as it is now.", { ...serviceAccount, status: "Inactive" }),
        403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.serviceAccounts.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteServiceAccount",
      route: "DELETE /api/v1/service-accounts/:id",
      access: manage,
      tag,
      summary: "Delete a service account",
      description: "All its keys stop working at once. Its history stays readable.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
      },
    }, async (call) => {
      await commands.serviceAccounts.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "createServiceKey",
      route: "POST /api/v1/service-accounts/:id/keys",
      access: manage,
      tag,
      summary: "Issue a service key",
      description:
        "The key is sent as `Authorization: Bearer rsk_…`. It may do what the account's role and its own scopes both " +
        "allow; without `scopes` all that the role may. `expiresAt` is an ISO 8601 date or date-time in the future; " +
        "a key without one never expires. A service account has 100 keys at most. With `users:write`, or without " +
        "scopes, the key's holder can become any person up to the account's role: it may create users and set " +
        "passwords, and then sign in as them.",
      parameters: { id },
      body: createServiceKey,
      examples: {
        "for some things": { name, scopes },
        "for all that the role may, for a time": { name: "migration", expiresAt: "2030-01-31T23:59:59.000Z" },
      },
      answers: {
        201: json("created-service-key", "The key, shown here only.", { ...serviceKey, key: `rsk_${token}` }),
        403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
        422: hasMostKeys,
      },
    }, async (call) => ({
      status: 201,
      body: await commands.serviceAccounts.issueKey(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "listServiceKeys",
      route: "GET /api/v1/service-accounts/:id/keys",
      access: read,
      tag,
      summary: "List the keys of a service account",
      description: "Deleted keys are not part of it.",
      parameters: { id },
      list: listServiceKeys,
      answers: {
        200: page("service-key", "A page of service keys.", serviceKey),
        403: problem("The service account belongs to another tenant.", others),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.serviceAccounts.keys(call.caller, pathId(call), call.input.page),
    })),
    signedIn({
      id: "rotateServiceKey",
      route: "POST /api/v1/service-accounts/:id/keys/:keyId/rotate",
      access: manage,
      tag,
      summary: "Rotate a service key",
      description:
        "Issues a key of the same name and scopes in place of this one, which works on for `overlapSeconds`. A key " +
        "that ends earlier keeps its end. The new one lives as long as the old one was issued for, from now.",
      parameters: { id, keyId },
      body: rotateKey,
      examples: { "with a day for the change": { overlapSeconds: 86_400 }, "the old key ends now": {} },
      answers: {
        201: json("created-service-key", "The new key, shown here only.", { ...serviceKey, key: `rsk_${token}` }),
        403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
        404: noSuchKey,
        422: hasMostKeys,
      },
    }, async (call) => ({
      status: 201,
      body: await commands.serviceAccounts.rotateKey(
        call.caller, pathId(call), keyIdOf(call), call.input, call.origin,
      ),
    })),
    signedIn({
      id: "deleteServiceKey",
      route: "DELETE /api/v1/service-accounts/:id/keys/:keyId",
      access: manage,
      tag,
      summary: "Delete a service key",
      description: "The key stops working at once.",
      parameters: { id, keyId },
      answers: {
        204: nothing("Deleted."),
        403: problem(`${whoNot}, or the service account belongs to another tenant.`, lacksRole, notAUser, others),
        404: noSuchKey,
      },
    }, async (call) => {
      await commands.serviceAccounts.revokeKey(call.caller, pathId(call), keyIdOf(call), call.origin);
      return { status: 204 };
    }),
  ];
}

function keyIdOf({ params }: Exchange): string {
  return uuidOf(params["keyId"] ?? "");
}
