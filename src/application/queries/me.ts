import type { components } from "../../../schemas/api.ts";
import type { Session } from "../accounts/sessions.ts";
import type { TenantQueries } from "./tenants.ts";
import type { UserQueries } from "./users.ts";

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
  async get(session: Session): Promise<MeView> {
    const { tenants, users } = this.#parts;
    const { userId, tenantId, role, expiresAt } = session;
    const [user, tenant] = await Promise.all([users.get(session, userId), tenants.get(session, tenantId)]);
    return {
      principal: { type: "user", id: userId, name: user.email },
      tenant: { id: tenantId, name: tenant.name },
      role, scopes: null, expiresAt,
    };
  }
}
