import type { ServiceCaller } from "../../../kernel/callers/caller.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { sha256 } from "../../../kernel/tools/hashing.ts";
import type { CredentialLookup } from "../../ingest/credential-lookup.ts";
import { tenants } from "../../tenants/facts.ts";

interface ServiceKeyParts {
  readonly aggregates: Aggregates;
  readonly credentials: CredentialLookup;
}

/** Authenticates service accounts by their keys. */
export class ServiceKeys {
  readonly #parts: ServiceKeyParts;

  constructor(parts: ServiceKeyParts) {
    this.#parts = parts;
  }

  /**
   * The service account of a key, as the log has it now. Throws a Refusal (unauthenticated) where the key is unknown,
   * deleted or expired, or its account is Inactive.
   */
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
