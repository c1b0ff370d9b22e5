import type { Inputs } from "../../../schemas/api.ts";
import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import createTenant from "../../../schemas/requests/create-tenant.json" with { type: "json" };
import replaceSecret from "../../../schemas/requests/replace-secret.json" with { type: "json" };
import updateTenant from "../../../schemas/requests/update-tenant.json" with { type: "json" };
import verifySignature from "../../../schemas/requests/verify-signature.json" with { type: "json" };
import { tooManySecrets } from "../../kernel/domain/signing-secrets.ts";
import { access, usersOnly } from "../../kernel/operations/access.ts";
import { optionalBody } from "../../kernel/operations/body-reader.ts";
import { asOfWords, facts, json, nothing, problem } from "../../kernel/operations/description.ts";
import { changeOf } from "../../kernel/operations/extended.ts";
import { open, originOf, pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import {
  cancellationFact, createdTenant, password, previousSecret, purgeFact, replayFact, secretReplacements, tenant,
  tenantFact, webhookSecret,
} from "../examples.ts";
import { typesOf } from "../facts.ts";
import { historyLists, historyRequest } from "../history.ts";
import type { Services } from "../services.ts";

const changedTenant = changeOf(createTenant, updateTenant);
const read = access("Viewer", null);
const readHistory = access("Viewer", "audit:read");
const write = access("Admin", null);
const handleSecret = usersOnly("Developer");
const id = "The tenant's id.";
const othersTenant = "the tenant is another account's";

/** Tenants and their webhook secrets. */
export function tenantOperations({ commands, queries }: Services): Operation[] {
  return [
    open({
      id: "createTenant",
      route: "POST /api/v1/tenants",
      tag: "Tenants",
      summary: "Create a tenant, its Owner and its webhook secret",
      description:
        "All three in one step, or none. Every request counts against the limit of its address, whatever its " +
        "answer. `deviceFingerprint` and `cfTurnstileToken` matter in the cloud offering only.",
      body: createTenant,
      examples: {
        "with the defaults": { name: "Example Ltd", ownerEmail: "owner@example.com", ownerPassword: password },
        "with a delivery policy": {
          name: "Example Ltd", ownerEmail: "owner@example.com", ownerPassword: password, maxTrys: 5,
          circuitBreakerTimer: 60,
        },
      },
      answers: {
        201: json("created-tenant", "The tenant. Keep the webhook secret: receivers verify with it.", createdTenant),
        409: problem(
          "The name or the email is taken.",
          "name: a tenant with this name exists already", "ownerEmail: is in use already",
        ),
        422: {
          description:
            "Cloud offering only: a registration guard turned the request down. JSON for a disposable email domain, " +
            "text for everything else.",
          content: {
            ...json("disposable-email", "", {
              error: "disposable_email", message: "ownerEmail: addresses of this domain are disposable",
            }).content,
            ...problem("", "cfTurnstileToken: was not accepted").content,
          },
        },
        429: problem(
          "More than 5 requests from this address, or IPv6 /64 network, within the hour " +
          "(`RELAY_LIMIT_TENANT_CREATION`); in the cloud offering also more than 3 tenants from one device within " +
          "a day.",
          "too many tenants were asked for from this address; try again later",
        ),
      },
    }, async ({ address, requestId }, read) => {
      // Every request counts, malformed ones too.
      await commands.tenants.admitCreation(address);
      const input = await read();
      const origin = originOf({ type: "anonymous" }, requestId);
      return { status: 201, body: await commands.tenants.create(input, origin, address) };
    }),
    signedIn({
      id: "getTenant",
      route: "GET /api/v1/tenants/:id",
      access: read,
      tag: "Tenants",
      summary: "Get the tenant",
      description: `The webhook secret is not part of it. ${asOfWords}`,
      parameters: { id },
      query: asOf,
      answers: {
        200: json("tenant", "The tenant.", tenant),
        404: problem("No tenant has this id, or it is another account's.", "tenant not found"),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn({
      id: "listTenantHistory",
      route: "GET /api/v1/tenants/:id/history",
      access: readHistory,
      isLarge: true,
      tag: "Tenants",
      summary: "List the tenant's history",
      description:
        "Who changed the tenant's settings, replaced its webhook secret, and created, changed or " +
        "deleted a user, and when. Secrets, passwords and emails are not shown, only that they changed. Purges, " +
        `bulk replays and bulk cancellations have separate histories.\n\n${typesOf("tenant")}`,
      parameters: { id },
      list: historyLists.tenant,
      answers: {
        200: facts(tenantFact),
        403: problem("The tenant is another account's.", othersTenant),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "listPurgeHistory",
      route: "GET /api/v1/tenants/:id/purges/history",
      access: readHistory,
      isLarge: true,
      tag: "Tenants",
      summary: "List the history of purges",
      description:
        "Who purged, when, by which filter, and how many events that took (`matched`); a purge for " +
        "`retentionDays` is the service's own. PurgeCompleted: all its events are deleted. Purges by versions " +
        `without this history are in the tenant's.\n\n${typesOf("purges")}`,
      parameters: { id },
      list: historyLists.purges,
      answers: {
        200: facts(purgeFact),
        403: problem("The tenant is another account's.", othersTenant),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.purgeHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "listReplayHistory",
      route: "GET /api/v1/tenants/:id/replays/history",
      access: readHistory,
      isLarge: true,
      tag: "Tenants",
      summary: "List the history of bulk replays",
      description:
        "Who replayed many events, when, by which filter, how many matched (`matched`), and how many were " +
        "put back to work (`replayed`). Without a ReplayCompleted the replay is still running or broke off: each " +
        "event's own history tells whether it was replayed. Dry runs, and replays that matched nothing, are not in " +
        "it." +
        "\n\n" +
        typesOf("replays"),
      parameters: { id },
      list: historyLists.replays,
      answers: {
        200: facts(replayFact),
        403: problem("The tenant is another account's.", othersTenant),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.replayHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "listCancellationHistory",
      route: "GET /api/v1/tenants/:id/cancellations/history",
      access: readHistory,
      isLarge: true,
      tag: "Tenants",
      summary: "List the history of bulk cancellations",
      description:
        "Who cancelled many events, when, by which filter, how many matched (`matched`), and how many the " +
        "request cancelled (`cancelled`). Without a CancellationCompleted it is still running or broke off: each " +
        "event's own history tells whether it was cancelled. Dry runs, and cancellations that matched nothing, are " +
        "not in it.\n\n" +
        typesOf("cancellations"),
      parameters: { id },
      list: historyLists.cancellations,
      answers: {
        200: facts(cancellationFact),
        403: problem("The tenant is another account's.", othersTenant),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.cancellationHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "updateTenant",
      route: "PATCH /api/v1/tenants/:id",
      access: write,
      tag: "Tenants",
      summary: "Change the tenant",
      description: "Absent fields stay unchanged. Renaming frees the old name.",
      parameters: { id },
      body: changedTenant,
      examples: {
        rename: { name: "Example GmbH" },
        "change the delivery policy": { maxTrys: 20, circuitBreakerTimer: 600 },
      },
      answers: {
        200: json("tenant", "The tenant as it is now.", { ...tenant, maxTrys: 20, circuitBreakerTimer: 600 }),
        403: problem(
          "The caller is neither Admin nor Owner, or the tenant is another account's.",
          "only Admin or above may change the tenant", othersTenant,
        ),
        409: problem(
          "Another tenant has the name, or this one's was changed at the same moment.",
          "name: a tenant with this name exists already", "name: was changed by another request",
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.tenants.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "getWebhookSecret",
      route: "GET /api/v1/tenants/:id/webhook-secret",
      access: handleSecret,
      tag: "Tenants",
      summary: "Get the webhook secret",
      description: "Deliveries are signed with it, and with older ones until these end (`previous`).",
      parameters: { id },
      answers: {
        200: json("webhook-secret", "The secret.", { webhookSecret, previous: [previousSecret] }),
        403: problem(
          "The caller is a Viewer, or the tenant is another account's.",
          "only Developer or above may read the webhook secret", othersTenant,
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.tenants.webhookSecret(call.caller, pathId(call)),
    })),
    signedIn({
      id: "regenerateWebhookSecret",
      route: "POST /api/v1/tenants/:id/webhook-secret",
      access: handleSecret,
      tag: "Tenants",
      summary: "Replace the webhook secret",
      description:
        "The next attempt is signed with the new secret. For `gracePeriodSeconds` the old one signs " +
        "`webhook-signature`, too, and older ones until the ends that they had, so that a receiver can change over " +
        "meanwhile. With 0, or without a body, all older ones end at once. `X-Service-Signature` is always the new " +
        "secret's alone.",
      parameters: { id },
      body: optionalBody<Inputs["regenerateWebhookSecret"]>(replaceSecret),
      examples: secretReplacements,
      answers: {
        200: json("webhook-secret", "The new secret.", { webhookSecret }),
        403: problem(
          "The caller is a Viewer, or the tenant is another account's.",
          "only Developer or above may regenerate the webhook secret", othersTenant,
        ),
        422: problem("More than 10 secrets would sign.", tooManySecrets),
      },
    }, async (call) => {
      const id = pathId(call);
      const webhookSecret = await commands.tenants.regenerateWebhookSecret(call.caller, id, call.input, call.origin);
      return { status: 200, body: { webhookSecret } };
    }),
    signedIn({
      id: "expireWebhookSecrets",
      route: "POST /api/v1/tenants/:id/webhook-secret/expire",
      access: handleSecret,
      tag: "Tenants",
      summary: "End the older webhook secrets",
      description: "From the next attempt on the current secret alone signs. Without older ones nothing changes.",
      parameters: { id },
      answers: {
        204: nothing("No older secret signs."),
        403: problem(
          "The caller is a Viewer, or the tenant is another account's.",
          "only Developer or above may end webhook secrets", othersTenant,
        ),
      },
    }, async (call) => {
      await commands.tenants.expireWebhookSecrets(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "verifySignature",
      route: "POST /api/v1/tenants/:id/webhook-secret/verify",
      access: read,
      tag: "Tenants",
      summary: "Check a signature",
      description:
        "For testing a receiver's own code: says whether `signature` is the `X-Service-Signature` of " +
        "`payload` under the current secret. A signature of any other form is answered with `false`.",
      parameters: { id },
      body: verifySignature,
      examples: {
        delivery: {
          payload: '{"type":"order.paid","amount":19.90}',
          signature: "sha256=e87afaa83054baccfae16d09c621d6964eb9ca730850e8e796936d0124d0b317",
        },
      },
      answers: {
        200: json("signature-validity", "Whether it is.", { valid: true }),
        403: problem("The tenant is another account's.", othersTenant),
      },
    }, async (call) => {
      const { payload, signature } = call.input;
      const id = pathId(call);
      const valid = await queries.tenants.verifySignature(call.caller, id, payload, signature);
      return { status: 200, body: { valid } };
    }),
  ];
}
