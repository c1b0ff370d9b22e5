import { isService, type Caller } from "../callers/caller.ts";
import { atLeast, type Role, grants, type Scope } from "../domain/roles.ts";

/** Who may call an operation, on at least one record. Rules that depend on the record are the domain's. */
export interface Access {
  readonly role: Role;
  readonly serviceRole: Role | null;
  /** The scope that a service key needs; null: only a key without scopes will do; `any`: every key will do. */
  readonly scope: Scope | "any" | null;
}

/** The access of an operation for users and service accounts, of the same lowest role unless told otherwise. */
export function access(role: Role, scope: Access["scope"], serviceRole = role): Access {
  return { role, serviceRole, scope };
}

/** The access of an operation for users only. */
export function usersOnly(role: Role): Access {
  return { role, serviceRole: null, scope: null };
}

/** Whether there may be a record on which the caller may carry out the operation. */
export function mayCall(caller: Caller, access: Access): boolean {
  const least = isService(caller) ? access.serviceRole : access.role;
  return least !== null && atLeast(caller.role, least) && barrier(caller, access) === undefined;
}

/** Why the caller may not call an operation, whatever its role; undefined where only the role counts. */
export function barrier(caller: Caller, { scope, serviceRole }: Access): string | undefined {
  if (!isService(caller)) return undefined;
  if (serviceRole === null) return "only a user may do this, not a service account";
  if (caller.scopes === null || scope === "any") return undefined;
  if (scope === null) return "only a service key without scopes may do this";
  return grants(caller.scopes, scope) ? undefined : `the service key lacks the scope ${scope}`;
}
