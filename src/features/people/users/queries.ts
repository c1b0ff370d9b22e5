import { users, usersCounter, usersSelected, type UserFilter } from "../../../../projections/users/users.ts";
import type { components } from "../../../../schemas/api.ts";
import userSchema from "../../../../schemas/responses/user.json" with { type: "json" };
import { type Caller, isService, type ServiceCaller, type Session } from "../../../kernel/callers/caller.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { fieldsOf } from "../../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { ownTenant, type User } from "../../tenants/facts.ts";
import type { TenantQueries } from "../../tenants/queries.ts";
import type { People } from "../persons/people.ts";

/** A user as the API shows it. */
export type UserView = Readonly<components["schemas"]["User"]>;

/** The caller, its tenant and its rights. */
export type MeView = Readonly<Omit<components["schemas"]["Me"], "operations">>;

/** Queries about users. */
export class UserQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "readModels" | "freshness"> & { readonly people: People }) {
    this.#parts = parts;
  }

  async get(caller: Caller, id: string): Promise<UserView> {
    const { aggregates, people } = this.#parts;
    const tenant = await ownTenant(aggregates, caller);
    const user = tenant.users.get(id) ?? (await this.refuseUnknown(id));
    return userView(tenant.id, user, await people.open(tenant, id, user.email));
  }

  /** Throws the Refusal for a user the caller's tenant does not have: forbidden where another has it. */
  async refuseUnknown(id: string): Promise<never> {
    const { readModels, freshness } = this.#parts;
    const other = await freshness.ask(() => readModels.get(users.name, id));
    if (other) refuse("forbidden", "the user belongs to another tenant");
    refuse("not-found", "user not found");
  }

  list({ tenantId }: Caller, filter: Omit<UserFilter, "tenantId">, page: PageRequest): Promise<Page<UserView>> {
    const wanted = { tenantId, ...filter };
    const asked = { ...usersSelected(wanted), counter: usersCounter(wanted), page };
    return listed(this.#parts, users, asked, (user) => user);
  }
}

/** Queries of callers about themselves. */
export class MeQueries {
  readonly #parts;

  constructor(parts: { readonly tenants: TenantQueries; readonly users: UserQueries }) {
    this.#parts = parts;
  }

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

/** The API's view of a folded user, with its opened email. */
export function userView(tenantId: string, user: User, email: string | null): UserView {
  return fieldsOf<UserView>(userSchema, { ...user, tenantId, email });
}
