import type { Role } from "../domain/roles.ts";
import type { Scope } from "../domain/scopes.ts";

/** Who may call an operation, on at least one record. Rules that depend on the record are the domain's. */
export interface Access {
  /** The lowest role that may. */
  readonly role: Role;
  /** The scope that a service key needs; null: only a key without scopes will do. */
  readonly scope: Scope | null;
}

/** The access of an operation. */
export function access(role: Role, scope: Scope | null): Access {
  return { role, scope };
}
