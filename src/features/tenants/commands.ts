import type { components, Inputs } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { checkEmail, checkPassword, checkWebhookSecret, cleanName } from "../../kernel/callers/input-rules.ts";
import { clientNetwork } from "../../kernel/domain/ipv6.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { noStream, RevisionConflict } from "../../kernel/ports/event-store.ts";
import type { RateLimit } from "../../kernel/ports/expiring-state.ts";
import { addressOwner } from "../../kernel/ports/passwords.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { places } from "../../kernel/sealing/vault.ts";
import { secretFingerprint, webhookSecret } from "../../kernel/tools/signature.ts";
import type { People } from "../people/persons/people.ts";
import { decide, type TenantCommand } from "./decide.ts";
import { ownTenant, tenants } from "./facts.ts";
import { tenantView, type TenantView } from "./queries.ts";
import type { RegistrationGuards } from "./registration-guards.ts";
import type { Reservations } from "./reservations/reservations.ts";

/** A tenant as its creator is shown it, including the webhook secret in clear. */
export type CreatedTenant = Readonly<components["schemas"]["CreatedTenant"]>;

const nameTaken = "name: a tenant with this name exists already";
const nameOvertaken = "name: was changed by another request";

/** Commands on tenants. */
export class TenantCommands {
  readonly #parts;
  readonly #limit: RateLimit | null;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "vault" | "sealing" | "passwords" | "state" | "clock" | "ids">
      & {
        readonly reservations: Reservations; readonly people: People; readonly keys: PlatformKeys;
        readonly guards: RegistrationGuards;
      },
    options: { readonly creationLimit: RateLimit | null },
  ) {
    this.#parts = parts;
    this.#limit = options.creationLimit;
  }

  /** Counts a request to create a tenant, also one that fails. Throws a Refusal (too-many). */
  async admitCreation(address: string): Promise<void> {
    if (!this.#limit) return;
    const slot = await this.#parts.state.admit([`tenant-creation:${clientNetwork(address)}`], this.#limit);
    if (!slot) refuse("too-many", "too many tenants were asked for from this address; try again later");
  }

  /** Creates a tenant and its Owner in one append, once the guards admit it. Throws a Refusal. */
  async create(input: Inputs["createTenant"], origin: Origin, address: string): Promise<CreatedTenant> {
    const name = cleanName("name", input.name);
    checkEmail("ownerEmail", input.ownerEmail);
    checkPassword("ownerPassword", input.ownerPassword);
    const { ownerEmail, deviceFingerprint, cfTurnstileToken: turnstileToken } = input;
    const registration = { ownerEmail, address, deviceFingerprint, turnstileToken };
    return this.#parts.guards.guard(registration, () => this.#create(name, input, origin, address));
  }

  /** Throws a Refusal (invalid, not-found, forbidden, conflict). */
  async change(caller: Caller, id: string, input: Inputs["updateTenant"], origin: Origin): Promise<TenantView> {
    const text = input.name === undefined ? undefined : cleanName("name", input.name);
    const { aggregates, reservations, keys, clock } = this.#parts;
    const tenant = await ownTenant(aggregates, caller, id);
    const hash = text === undefined ? tenant.nameHash : await keys.nameHash(text);
    const command = (reservation?: string): TenantCommand => ({
      type: "ChangeTenant",
      by: caller,
      name: text,
      nameHash: text === undefined ? undefined : hash,
      maxTrys: input.maxTrys,
      circuitBreakerTimer: input.circuitBreakerTimer,
      retentionDays: input.retentionDays,
      reservation,
      at: timestampNow(clock),
    });
    decide(tenant, command());
    const change = async (reservation?: string) =>
      aggregates.change(tenants, id, origin, (state) => {
        if (text !== undefined && state?.nameHash !== tenant.nameHash) {
          refuse("conflict", nameOvertaken);
        }
        return decide(state, command(reservation));
      });
    if (hash === tenant.nameHash) await change();
    else {
      const holder = { tenantId: id, userId: null };
      const claim = { stream: streams.tenantName(hash), holder, taken: nameTaken, overtaken: nameOvertaken };
      await reservations.exchange(streams.tenantName(tenant.nameHash), claim, origin, change);
    }
    return tenantView((await aggregates.read(tenants, id)).state ?? refuse("not-found", "tenant not found"));
  }

  /** Replaces the secret by a new one, or by the given one. Throws a Refusal. */
  async regenerateWebhookSecret(
    caller: Caller, id: string, input: Inputs["regenerateWebhookSecret"], origin: Origin,
  ): Promise<string> {
    const { aggregates, vault, ids, clock } = this.#parts;
    if (input.secret !== undefined) checkWebhookSecret("secret", input.secret);
    const secret = input.secret ?? webhookSecret(ids.secretBytes(32));
    const tenant = await ownTenant(aggregates, caller, id);
    const command = {
      type: "RegenerateWebhookSecret",
      by: caller,
      webhookSecret: vault.seal(secret, tenant, places.webhookSecret(id)),
      webhookSecretFingerprint: secretFingerprint(secret),
      gracePeriodSeconds: input.gracePeriodSeconds,
    } as const;
    await aggregates.change(tenants, id, origin, (state) => decide(state, { ...command, at: timestampNow(clock) }));
    return secret;
  }

  /** Ends all older secrets. Throws a Refusal (not-found, forbidden). */
  async expireWebhookSecrets(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    await ownTenant(aggregates, caller, id);
    await aggregates.change(tenants, id, origin, (state) =>
      decide(state, { type: "ExpireWebhookSecrets", by: caller, at: timestampNow(clock) }));
  }

  async #create(name: string, input: Inputs["createTenant"], origin: Origin, address: string): Promise<CreatedTenant> {
    const { store, reservations, people, keys, vault, sealing, passwords, ids, clock } = this.#parts;
    const nameHash = await keys.nameHash(name);
    const emailHash = await keys.emailHash(input.ownerEmail);
    const passwordHash = await passwords.hash(input.ownerPassword, addressOwner(address));
    const [tenantId, userId] = [ids.uuid(), ids.uuid()];
    const dataKey = sealing.wrap(ids.secretBytes(32), places.dataKey(tenantId));
    const tenant = { id: tenantId, dataKey };
    const secret = webhookSecret(ids.secretBytes(32));
    const claims = [
      { stream: streams.tenantName(nameHash), holder: { tenantId, userId: null }, taken: nameTaken },
      { stream: streams.email(emailHash), holder: { tenantId, userId }, taken: "ownerEmail: is in use already" },
    ];
    const { maxTrys, circuitBreakerTimer } = input;
    const at = await reservations.during(claims, origin, async () => {
      await people.create(tenant, userId, origin);
      const email = await people.seal(tenant, userId, input.ownerEmail);
      const at = timestampNow(clock);
      const facts = decide(undefined, {
        type: "CreateTenant",
        tenant: {
          tenantId, name, nameHash, maxTrys, circuitBreakerTimer, dataKey,
          webhookSecret: vault.seal(secret, tenant, places.webhookSecret(tenantId)),
          webhookSecretFingerprint: secretFingerprint(secret),
        },
        owner: { userId, email, emailHash, passwordHash },
        at,
      });
      try {
        await store.append(streams.tenant(tenantId), noStream, entriesOf(facts, origin, ids));
        return at;
      } catch (error) {
        // The only other writer to a stream nobody knows yet is a request that took over a reservation of this one.
        if (error instanceof RevisionConflict) refuse("conflict", nameTaken);
        throw error;
      }
    });
    return {
      tenantId, tenantName: name, webhookSecret: secret, maxTrys, circuitBreakerTimer, tenantCreatedAt: at,
      ownerUserId: userId, ownerEmail: input.ownerEmail, ownerRole: "Owner", ownerCreatedAt: at,
    };
  }
}
