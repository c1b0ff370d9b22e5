import type { components } from "../../../../schemas/api.ts";
import { isService, type ServiceCaller, type Session } from "../../../kernel/callers/caller.ts";
import type { TenantQueries } from "../../tenants/queries.ts";
import type { UserQueries } from "./queries.ts";

/** The caller, its tenant and its rights. */
export type MeView = Readonly<Omit<components["schemas"]["Me"], "operations">>;

interface MeQueryParts {
  readonly tenants: TenantQueries;
  readonly users: UserQueries;
}

/** Queries of callers about themselves. */
export class MeQueries {
  readonly #parts: MeQueryParts;

  constructor(parts: MeQueryParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found) where the user is deleted meanwhile. */
  async get(caller: Session | ServiceCaller): Promise<MeView> {
    const { tenantId, role, expiresAt } = caller;
    const [principal, tenant] = await Promise.all([
      this.#principal(caller), this.#parts.tenants.get(caller, tenantId),
    ]);
    const scopes = isService(caller) && caller.scopes ? [...caller.scopes] : null;
    return { principal, tenant: { id: tenantId, name: tenant.name }, role, scopes, expiresAt };
  }

  async #principal(caller: Session | ServiceCaller): Promise<MeView["principal"]> {
    if (isService(caller)) return { type: "serviceAccount", id: caller.serviceAccountId, name: caller.name };
    const { email } = await this.#parts.users.get(caller, caller.userId);
    return { type: "user", id: caller.userId, name: email };
  }
}
