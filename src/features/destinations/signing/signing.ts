import { signingKeys, type SigningKeyDocument } from "../../../../projections/secrets/signing-keys.ts";
import type { components, Inputs } from "../../../../schemas/api.ts";
import { ownOf } from "../../../kernel/callers/access.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import { checkWebhookSecret } from "../../../kernel/callers/input-rules.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { requireRole } from "../../../kernel/domain/roles.ts";
import { previousOf } from "../../../kernel/domain/signing-secrets.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { places } from "../../../kernel/sealing/vault.ts";
import { secretFingerprint, signingKeyOf, webhookSecret } from "../../../kernel/tools/signature.ts";
import { ownTenant, tenants } from "../../tenants/facts.ts";
import { decide, type DestinationCommand } from "../decide.ts";
import { destinations } from "../facts.ts";
import { requireSigningSecret } from "./decide.ts";
import { otherSecrets } from "./facts.ts";

/** The most keys of an answer, which anyone may ask for. */
const mostKeys = 1_000;

/** The secret of a destination, in clear, and the older ones by their fingerprints. */
export type SigningSecretView = Readonly<components["schemas"]["WebhookSecret"]>;
/** The public keys of a tenant's destinations. */
export type SigningKeysView = Readonly<components["schemas"]["SigningKeys"]>;

/** Secrets and keys of single destinations. */
export class DestinationSigning {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "vault" | "readModels" | "freshness" | "clock" | "ids">,
  ) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden). */
  async secret(caller: Caller, id: string): Promise<SigningSecretView> {
    const { aggregates, vault, clock } = this.#parts;
    const destination = await this.#own(caller, id, "read signing secrets");
    const secret = requireSigningSecret(destination.signingSecret);
    const tenant = await ownTenant(aggregates, caller);
    const others = otherSecrets(secret, tenant.webhookSecretFingerprint, timestampNow(clock));
    return { webhookSecret: vault.secret(secret, tenant, places.signingSecret(tenant.id, id)), ...previousOf(others) };
  }

  /** Replaces the secret by a new one, or by the given one. Throws a Refusal. */
  async replaceSecret(
    caller: Caller, id: string, input: Inputs["replaceSigningSecret"], origin: Origin,
  ): Promise<string> {
    const { aggregates, vault, ids } = this.#parts;
    if (input.secret !== undefined) checkWebhookSecret("secret", input.secret);
    const secret = input.secret ?? webhookSecret(ids.secretBytes(32));
    await this.#own(caller, id, "replace signing secrets");
    const tenant = await ownTenant(aggregates, caller);
    await this.#change(id, origin, {
      type: "ReplaceSigningSecret",
      signingSecret: vault.seal(secret, tenant, places.signingSecret(tenant.id, id)),
      signingSecretFingerprint: secretFingerprint(secret),
      gracePeriodSeconds: input.gracePeriodSeconds,
      at: timestampNow(this.#parts.clock),
    });
    return secret;
  }

  /** Ends the older secrets. Throws a Refusal (not-found, forbidden). */
  async expireSecrets(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id, "end signing secrets");
    await this.#change(id, origin, { type: "ExpireSigningSecrets", at: timestampNow(this.#parts.clock) });
  }

  /** The tenant's secret signs again. Throws a Refusal (not-found, forbidden). */
  async removeSecret(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id, "remove signing secrets");
    await this.#change(id, origin, { type: "RemoveSigningSecret", at: timestampNow(this.#parts.clock) });
  }

  /** Makes another key pair; returns the public key. Throws a Refusal (not-found, forbidden). */
  async replaceKey(caller: Caller, id: string, origin: Origin): Promise<string> {
    const { aggregates, vault, ids } = this.#parts;
    await this.#own(caller, id, "replace signing keys");
    const tenant = await ownTenant(aggregates, caller);
    const { privateKey, publicKey } = signingKeyOf(ids.secretBytes(32));
    await this.#change(id, origin, {
      type: "ReplaceSigningKey",
      publicKey,
      privateKey: vault.seal(privateKey, tenant, places.signingKey(tenant.id, id)),
      at: timestampNow(this.#parts.clock),
    });
    return publicKey;
  }

  async removeKey(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id, "remove signing keys");
    await this.#change(id, origin, { type: "RemoveSigningKey", at: timestampNow(this.#parts.clock) });
  }

  /** The public keys of a tenant, for anyone. Throws a Refusal (not-found). */
  async keys(tenantId: string): Promise<SigningKeysView> {
    const { aggregates, readModels, freshness } = this.#parts;
    const { state } = await aggregates.current(tenants, tenantId);
    if (!state) refuse("not-found", "tenant not found");
    const keys = await freshness.ask(() => readModels.find({
      collection: signingKeys.name, where: { tenantId }, order: { field: "id", descending: false }, limit: mostKeys,
    })) as readonly SigningKeyDocument[];
    return { keys: keys.map(({ id: destinationUrlId, publicKey }) => ({ destinationUrlId, publicKey })) };
  }

  async #own(caller: Caller, id: string, to: string) {
    const destination = await ownOf(this.#parts.aggregates, destinations, id, caller, "destination");
    requireRole(caller, "Developer", to);
    return destination;
  }

  async #change(id: string, origin: Origin, command: DestinationCommand): Promise<void> {
    await this.#parts.aggregates.change(destinations, id, origin, (state) => decide(state, command));
  }
}
