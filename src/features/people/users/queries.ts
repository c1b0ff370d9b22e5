import { users, usersCounter, usersSelected, type UserFilter } from "../../../../projections/users/users.ts";
import type { components } from "../../../../schemas/api.ts";
import userSchema from "../../../../schemas/responses/user.json" with { type: "json" };
import type { Caller } from "../../../kernel/callers/caller.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import type { ReadModels } from "../../../kernel/ports/read-models.ts";
import { fieldsOf } from "../../../kernel/read-models/fields-of.ts";
import type { Freshness } from "../../../kernel/read-models/freshness.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { ownTenant, type User } from "../../tenants/facts.ts";
import type { People } from "../persons/people.ts";

interface UserQueryParts {
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
  readonly people: People;
}

/** Queries about users. */
export class UserQueries {
  readonly #parts: UserQueryParts;

  constructor(parts: UserQueryParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden). */
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

  /** The users of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list({ tenantId }: Caller, filter: Omit<UserFilter, "tenantId">, page: PageRequest): Promise<Page<UserView>> {
    const wanted = { tenantId, ...filter };
    const asked = { ...usersSelected(wanted), counter: usersCounter(wanted), page };
    return listed(this.#parts, users, asked, (user) => user);
  }
}

/** A user as the API shows it. */
export type UserView = Readonly<components["schemas"]["User"]>;

/** The API's view of a folded user, with its opened email. */
export function userView(tenantId: string, user: User, email: string | null): UserView {
  return fieldsOf<UserView>(userSchema, { ...user, tenantId, email });
}
