import type { Inputs } from "../../../../schemas/api.ts";
import replaceSecret from "../../../../schemas/requests/replace-secret.json" with { type: "json" };
import { tooManySecrets } from "../../../kernel/domain/signing-secrets.ts";
import { access, usersOnly, withPortal } from "../../../kernel/operations/access.ts";
import { optionalBody } from "../../../kernel/operations/body-reader.ts";
import { json, nothing, problem } from "../../../kernel/operations/description.ts";
import { open, pathId, signedIn, type Operation } from "../../../kernel/operations/operation.ts";
import { destination, previousSecret, publicKey, secretReplacements, webhookSecret } from "../../examples.ts";
import type { Services } from "../../services.ts";

const handleSecret = withPortal(usersOnly("Developer"), "none");
const write = withPortal(access("Developer", "destinations:write"), "none");
const tag = "Destinations";
const id = "The destination's id.";
const noSecret = problem("No destination has this id, or it has no secret of its own.", "signing secret not found");
const forbidden = (what: string) =>
  problem(
    "The caller is a Viewer, or the destination belongs to another tenant.",
    `only Developer or above may ${what}`, "the destination belongs to another tenant",
  );

/** Secrets and keys of single destinations. */
export function destinationSigningOperations({ commands }: Services): Operation[] {
  return [
    signedIn({
      id: "getSigningSecret",
      route: "GET /api/v1/destinations/:id/signing-secret",
      access: handleSecret,
      tag,
      summary: "Get a destination's signing secret",
      description:
        "The secret that signs in place of the tenant's, and older ones that sign until these end (`previous`), the " +
        "tenant's among them.",
      parameters: { id },
      answers: {
        200: json("webhook-secret", "The secret.", { webhookSecret, previous: [previousSecret] }),
        403: forbidden("read signing secrets"),
        404: noSecret,
      },
    }, async (call) => ({ status: 200, body: await commands.signing.secret(call.caller, pathId(call)) })),
    signedIn({
      id: "replaceSigningSecret",
      route: "POST /api/v1/destinations/:id/signing-secret",
      access: handleSecret,
      tag,
      summary: "Make or replace a destination's signing secret",
      description:
        "It takes the place of the tenant's secret for this destination, in both headers, from the next attempt on. " +
        "For `gracePeriodSeconds` the replaced secret signs `webhook-signature`, too; if the secret is the first, " +
        "the tenant's current one does. With 0, or without a body, all older ones end at once.",
      parameters: { id },
      body: optionalBody<Inputs["replaceSigningSecret"]>(replaceSecret),
      examples: secretReplacements,
      answers: {
        200: json("webhook-secret", "The new secret.", { webhookSecret }),
        403: forbidden("replace signing secrets"),
        422: problem("More than 10 secrets would sign.", tooManySecrets),
      },
    }, async (call) => {
      const webhookSecret = await commands.signing.replaceSecret(call.caller, pathId(call), call.input, call.origin);
      return { status: 200, body: { webhookSecret } };
    }),
    signedIn({
      id: "expireSigningSecrets",
      route: "POST /api/v1/destinations/:id/signing-secret/expire",
      access: handleSecret,
      tag,
      summary: "End a destination's older signing secrets",
      description: "From the next attempt on its current secret alone signs. Without older ones nothing changes.",
      parameters: { id },
      answers: {
        204: nothing("No older secret signs."),
        403: forbidden("end signing secrets"),
        404: noSecret,
      },
    }, async (call) => {
      await commands.signing.expireSecrets(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "removeSigningSecret",
      route: "DELETE /api/v1/destinations/:id/signing-secret",
      access: handleSecret,
      tag,
      summary: "Remove a destination's signing secret",
      description: "From the next attempt on the tenant's secret signs again.",
      parameters: { id },
      answers: {
        204: nothing("Removed."),
        403: forbidden("remove signing secrets"),
        404: noSecret,
      },
    }, async (call) => {
      await commands.signing.removeSecret(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "replaceSigningKey",
      route: "POST /api/v1/destinations/:id/signing-key",
      access: write,
      tag,
      summary: "Make or replace a destination's signing key",
      description:
        "From the next attempt on deliveries carry an Ed25519 signature of this key in `webhook-signature`, too " +
        "(`v1a`). The private key is sealed at once and never shown; `listSigningKeys` shows the public one.",
      parameters: { id },
      answers: {
        200: json("signing-key", "The public key.", { publicKey }),
        403: forbidden("replace signing keys"),
      },
    }, async (call) => ({
      status: 200,
      body: { publicKey: await commands.signing.replaceKey(call.caller, pathId(call), call.origin) },
    })),
    signedIn({
      id: "removeSigningKey",
      route: "DELETE /api/v1/destinations/:id/signing-key",
      access: write,
      tag,
      summary: "Remove a destination's signing key",
      parameters: { id },
      answers: {
        204: nothing("Removed."),
        403: forbidden("remove signing keys"),
        404: problem("No destination has this id, or it has no signing key.", "signing key not found"),
      },
    }, async (call) => {
      await commands.signing.removeKey(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    open({
      id: "listSigningKeys",
      route: "GET /api/v1/tenants/:id/signing-keys",
      tag: "Tenants",
      summary: "List the public signing keys",
      description:
        "For receivers, without a token: the public key of each destination that has one, the first 1,000 by id.",
      parameters: { id: "The tenant's id." },
      answers: {
        200: json("signing-keys", "The keys.", { keys: [{ destinationUrlId: destination.id, publicKey }] }),
      },
    }, async (exchange) => ({ status: 200, body: await commands.signing.keys(pathId(exchange)) })),
  ];
}
