import {
  keyCounter, serviceAccounts as collection, serviceKeys, type ServiceAccountDocument, type ServiceKeyDocument,
} from "../../../../projections/service-accounts/service-accounts.ts";
import type { components } from "../../../../schemas/api.ts";
import serviceAccountSchema from "../../../../schemas/responses/service-account.json" with { type: "json" };
import { ownOf } from "../../../kernel/callers/access.ts";
import type { Caller, ServiceCaller } from "../../../kernel/callers/caller.ts";
import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../../kernel/ports/read-models.ts";
import { fieldsOf } from "../../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { sha256 } from "../../../kernel/tools/hashing.ts";
import { ownHistory, type HistoryRequest, type ToldFact } from "../../history.ts";
import type { CredentialLookup } from "../../ingest/credential-lookup.ts";
import { tenants } from "../../tenants/facts.ts";
import { serviceAccounts, type ServiceAccountEvent } from "./facts.ts";

const name = "service account";

/** Queries about service accounts and their keys. */
export class ServiceAccountQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness">) {
    this.#parts = parts;
  }

  async get(caller: Caller, id: string): Promise<ServiceAccountView> {
    return serviceAccountView(await ownOf(this.#parts.aggregates, serviceAccounts, id, caller, name));
  }

  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return ownHistory(this.#parts, { type: serviceAccounts, id, name }, caller, asked);
  }

  list({ tenantId }: Caller, page: PageRequest): Promise<Page<ServiceAccountView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, serviceAccountView);
  }

  async keys(caller: Caller, id: string, page: PageRequest): Promise<Page<ServiceKeyView>> {
    const { id: serviceAccountId } = await ownOf(this.#parts.aggregates, serviceAccounts, id, caller, name);
    const asked = { where: { serviceAccountId }, counter: keyCounter(serviceAccountId), page };
    return listed(this.#parts, serviceKeys, asked, (key) => key);
  }
}

/** A service account as the API shows it. */
export type ServiceAccountView = Readonly<components["schemas"]["ServiceAccount"]>;

/** The API's view of a service account, folded or as the read models have it. */
export function serviceAccountView(account: ServiceAccountDocument): ServiceAccountView {
  return fieldsOf<ServiceAccountView>(serviceAccountSchema, { ...account, status: statusOf(account) });
}

/** A key of a service account as the API shows it, and as the read models have it. */
export type ServiceKeyView = ServiceKeyDocument;

/** A key of a service account as it is shown once, with the key itself. */
export type CreatedServiceKeyView = Readonly<components["schemas"]["CreatedServiceKey"]>;

/** The API's view of a key just issued. */
export function serviceKeyView(issued: DataOf<ServiceAccountEvent, "ServiceKeyIssued">): ServiceKeyView {
  const { keyId: id, tenantId, serviceAccountId, name, prefix, last4, scopes, at: createdAt, expiresAt } = issued;
  return { id, tenantId, serviceAccountId, name, prefix, last4, scopes, createdAt, expiresAt };
}

function statusOf({ active }: { readonly active: boolean }): "Active" | "Inactive" {
  return active ? "Active" : "Inactive";
}

/** Authenticates service accounts by their keys. */
export class ServiceKeys {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates"> & { readonly credentials: CredentialLookup }) {
    this.#parts = parts;
  }

  /** The service account of a key, as the log has it now. Throws a Refusal (unauthenticated). */
  async authenticate(serviceKey: string): Promise<ServiceCaller> {
    const { aggregates, credentials } = this.#parts;
    const owner = await credentials.serviceKey(sha256(serviceKey));
    if (!owner) refuse("unauthenticated", "the service key is not valid");
    const { account: { id: serviceAccountId, tenantId, name, role }, key: { id: keyId, scopes, expiresAt } } = owner;
    // The streams of an erased tenant are gone, but may still be in memory.
    const { state: tenant } = await aggregates.read(tenants, tenantId);
    if (!tenant) refuse("unauthenticated", "the service key is not valid");
    return { serviceAccountId, tenantId, name, role, keyId, scopes, expiresAt };
  }
}
