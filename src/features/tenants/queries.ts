import type { components } from "../../../schemas/api.ts";
import tenantSchema from "../../../schemas/responses/tenant.json" with { type: "json" };
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { activeAt, previousOf } from "../../kernel/domain/signing-secrets.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Moments } from "../../kernel/log/moments.ts";
import { stateAt } from "../../kernel/log/past-states.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import type { Page } from "../../kernel/read-models/paging.ts";
import { verify } from "../../kernel/tools/signature.ts";
import { historyPage, type HistoryRequest, type ToldFact } from "../history.ts";
import { ownTenant, tenants, type Tenant } from "./facts.ts";

/** Queries about tenants. */
export class TenantQueries {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "vault" | "clock">
      & { readonly moments: Moments },
  ) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment. Throws a Refusal (invalid, unavailable), and not-found for another's tenant too. */
  async get(caller: Caller, id: string, asOf?: string): Promise<TenantView> {
    const { store, aggregates, moments } = this.#parts;
    const asked = asOf === undefined ? undefined : moments.read(asOf);
    const { state } = id === caller.tenantId ? await aggregates.current(tenants, id) : {};
    if (!state) refuse("not-found", "tenant not found");
    if (!asked) return tenantView(state);
    const { moment } = await moments.find(caller.tenantId, asked);
    const then = await stateAt(store, tenants, id, moment.position);
    return { ...tenantView(then ?? refuse("not-found", "tenant not found at that moment")), asOf: moment };
  }

  /** Every fact of the tenant and its users, without secrets and addresses. Throws a Refusal (not-found, forbidden). */
  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return this.#history(caller, id, streams.tenant(id), asked);
  }

  purgeHistory(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return this.#history(caller, id, streams.purges(id), asked);
  }

  replayHistory(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return this.#history(caller, id, streams.replays(id), asked);
  }

  cancellationHistory(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return this.#history(caller, id, streams.cancellations(id), asked);
  }

  /** The secret, with older ones that still sign. Throws a Refusal (not-found, forbidden). */
  async webhookSecret(caller: Caller, id: string): Promise<WebhookSecretView> {
    const { aggregates, vault, clock } = this.#parts;
    const tenant = await ownTenant(aggregates, caller, id);
    requireRole(caller, "Developer", "read the webhook secret");
    const previous = activeAt(tenant.previousSecrets, timestampNow(clock));
    return { webhookSecret: vault.webhookSecret(tenant), ...previousOf(previous) };
  }

  /** Whether `signature` (`sha256=<hex>`) is by the tenant's secret. Throws a Refusal (not-found, forbidden). */
  async verifySignature(caller: Caller, id: string, payload: string, signature: string): Promise<boolean> {
    const tenant = await ownTenant(this.#parts.aggregates, caller, id);
    return verify(this.#parts.vault.webhookSecret(tenant), payload, signature);
  }

  async #history(caller: Caller, id: string, stream: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    await ownTenant(this.#parts.aggregates, caller, id);
    return historyPage(this.#parts, caller, stream, asked);
  }
}

/** The secret that signs deliveries, in clear, and the older ones by their fingerprints. */
export type WebhookSecretView = Readonly<components["schemas"]["WebhookSecret"]>;

/** A tenant as the API shows it. */
export type TenantView = Readonly<components["schemas"]["Tenant"]>;

/** The API's view of a folded tenant. */
export function tenantView(tenant: Tenant): TenantView {
  return fieldsOf<TenantView>(tenantSchema, tenant);
}
