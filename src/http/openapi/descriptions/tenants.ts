import { asOfWords, facts, json, problem, type Descriptions } from "../description.ts";
import {
  cancellationFact, createdTenant, password, purgeFact, replayFact, tenant, tenantFact, webhookSecret,
} from "../examples.ts";
import { typesOf } from "../facts/fact-types.ts";

const id = "The tenant's id.";
const othersTenant = "the tenant is another account's";

/** Tenants and their webhook secrets. */
export const tenantDescriptions: Descriptions = {
  "POST /api/v1/tenants": {
    id: "createTenant",
    tag: "Tenants",
    summary: "Create a tenant, its Owner and its webhook secret",
    description:
      "All three in one step, or none. Every request counts against the limit of its address, whatever its " +
      "answer. `deviceFingerprint` and `cfTurnstileToken` matter in the cloud offering only.",
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
        "(`RELAY_LIMIT_TENANT_CREATION`); in the cloud offering also more than 3 tenants from one device within a day.",
        "too many tenants were asked for from this address; try again later",
      ),
    },
  },
  "GET /api/v1/tenants/:id": {
    id: "getTenant",
    tag: "Tenants",
    summary: "Get the tenant",
    description: `The webhook secret is not part of it. ${asOfWords}`,
    parameters: { id },
    answers: {
      200: json("tenant", "The tenant.", tenant),
      404: problem("No tenant has this id, or it is another account's.", "tenant not found"),
    },
  },
  "GET /api/v1/tenants/:id/history": {
    id: "listTenantHistory",
    tag: "Tenants",
    summary: "List the tenant's history",
    description:
      "Who changed the tenant's settings, replaced its webhook secret, and created, changed or " +
      "deleted a user, and when. Secrets, passwords and emails are not shown, only that they changed. Purges, " +
      `bulk replays and bulk cancellations have separate histories.\n\n${typesOf("tenant")}`,
    parameters: { id },
    answers: {
      200: facts(tenantFact),
      403: problem("The tenant is another account's.", othersTenant),
    },
  },
  "GET /api/v1/tenants/:id/purges/history": {
    id: "listPurgeHistory",
    tag: "Tenants",
    summary: "List the history of purges",
    description:
      "Who purged, when, by which filter, and how many events that took (`matched`); a purge for " +
      "`retentionDays` is the service's own. PurgeCompleted: all its events are deleted. Purges by versions without " +
      `this history are in the tenant's.\n\n${typesOf("purges")}`,
    parameters: { id },
    answers: {
      200: facts(purgeFact),
      403: problem("The tenant is another account's.", othersTenant),
    },
  },
  "GET /api/v1/tenants/:id/replays/history": {
    id: "listReplayHistory",
    tag: "Tenants",
    summary: "List the history of bulk replays",
    description:
      "Who replayed many events, when, by which filter, how many matched (`matched`), and how many were " +
      "put back to work (`replayed`). Without a ReplayCompleted the replay is still running or broke off: each " +
      "event's own history tells whether it was replayed. Dry runs, and replays that matched nothing, are not in it." +
      "\n\n" +
      typesOf("replays"),
    parameters: { id },
    answers: {
      200: facts(replayFact),
      403: problem("The tenant is another account's.", othersTenant),
    },
  },
  "GET /api/v1/tenants/:id/cancellations/history": {
    id: "listCancellationHistory",
    tag: "Tenants",
    summary: "List the history of bulk cancellations",
    description:
      "Who cancelled many events, when, by which filter, how many matched (`matched`), and how many the " +
      "request cancelled (`cancelled`). Without a CancellationCompleted it is still running or broke off: each " +
      "event's own history tells whether it was cancelled. Dry runs, and cancellations that matched nothing, are not " +
      "in it.\n\n" +
      typesOf("cancellations"),
    parameters: { id },
    answers: {
      200: facts(cancellationFact),
      403: problem("The tenant is another account's.", othersTenant),
    },
  },
  "PATCH /api/v1/tenants/:id": {
    id: "updateTenant",
    tag: "Tenants",
    summary: "Change the tenant",
    description: "Absent fields stay unchanged. Renaming frees the old name.",
    parameters: { id },
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
  },
  "GET /api/v1/tenants/:id/webhook-secret": {
    id: "getWebhookSecret",
    tag: "Tenants",
    summary: "Get the webhook secret",
    description: "Deliveries are signed with it.",
    parameters: { id },
    answers: {
      200: json("webhook-secret", "The secret.", { webhookSecret }),
      403: problem(
        "The caller is a Viewer, or the tenant is another account's.",
        "only Developer or above may read the webhook secret", othersTenant,
      ),
    },
  },
  "POST /api/v1/tenants/:id/webhook-secret": {
    id: "regenerateWebhookSecret",
    tag: "Tenants",
    summary: "Replace the webhook secret",
    description: "The next attempt is signed with the new secret, the old one is gone.",
    parameters: { id },
    answers: {
      200: json("webhook-secret", "The new secret.", { webhookSecret }),
      403: problem(
        "The caller is a Viewer, or the tenant is another account's.",
        "only Developer or above may regenerate the webhook secret", othersTenant,
      ),
    },
  },
  "POST /api/v1/tenants/:id/webhook-secret/verify": {
    id: "verifySignature",
    tag: "Tenants",
    summary: "Check a signature",
    description:
      "For testing a receiver's own code: says whether `signature` is the `X-Service-Signature` of " +
      "`payload`. A signature of any other form is answered with `false`.",
    parameters: { id },
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
  },
};
