import { isPortal, isService, type Caller } from "../callers/caller.ts";
import { atLeast, type PortalRight, type Role, grants, type Scope } from "../domain/roles.ts";

/** Who may call an operation, on at least one record. Rules that depend on the record are the domain's. */
export interface Access {
  /** Null: no user. */
  readonly role: Role | null;
  readonly serviceRole: Role | null;
  /** The scope that a service key needs; null: only a key without scopes will do; `any`: every key will do. */
  readonly scope: Scope | "any" | null;
  /**
   * The right that a portal link needs. `any`: every link will do; `none`: no link will do, though links can name the
   * record. Absent: visitors of the portal have no such operation.
   */
  readonly portal?: PortalRight | "any" | "none";
}

/** The access of an operation for users and service accounts, of the same lowest role unless told otherwise. */
export function access(role: Role, scope: Access["scope"], serviceRole = role): Access {
  return { role, serviceRole, scope };
}

/** The access of an operation for users only. */
export function usersOnly(role: Role): Access {
  return { role, serviceRole: null, scope: null };
}

/** The same access, and that of the portal's visitors. */
export function withPortal(access: Access, portal: NonNullable<Access["portal"]>): Access {
  return { ...access, portal };
}

/** The access of an operation for the portal's visitors only. */
export const portalOnly: Access = { role: null, serviceRole: null, scope: null, portal: "any" };

/** Whether there may be a record on which the caller may carry out the operation. */
export function mayCall(caller: Caller, access: Access): boolean {
  if (isPortal(caller)) return access.portal !== undefined && barrier(caller, access) === undefined;
  const least = isService(caller) ? access.serviceRole : access.role;
  return least !== null && atLeast(caller.role, least) && barrier(caller, access) === undefined;
}

/** Why the caller may not call an operation, whatever its role; undefined where only the role counts. */
export function barrier(caller: Caller, { scope, serviceRole, portal }: Access): string | undefined {
  if (isPortal(caller)) {
    if (portal === undefined || portal === "none") return "a portal link cannot allow this";
    const isAllowed = portal === "any" || caller.may.includes(portal);
    return isAllowed ? undefined : `the portal link lacks the right to ${portal}`;
  }
  if (!isService(caller)) return undefined;
  if (serviceRole === null) return "only a user may do this, not a service account";
  if (caller.scopes === null || scope === "any") return undefined;
  if (scope === null) return "only a service key without scopes may do this";
  return grants(caller.scopes, scope) ? undefined : `the service key lacks the scope ${scope}`;
}
