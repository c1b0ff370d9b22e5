import { refuse } from "./refusal.ts";

/** Roles, lowest first. */
export const roles = ["Viewer", "Developer", "Admin", "Owner"] as const;
/** One of {@link roles}; each has all the rights of those before it. */
export type Role = (typeof roles)[number];

/** Roles by the numbers that stand for them in requests, whose order says nothing about rank. */
export const rolesByCode = {
  0: "Developer", 1: "Admin", 10: "Owner", 20: "Viewer",
} as const satisfies Record<number, Role>;
/** One of the codes in {@link rolesByCode}. */
export type RoleCode = keyof typeof rolesByCode;

/** Whether `role` is at or above `least`. */
export function atLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Somebody on whose behalf a command runs. */
export interface Acting {
  readonly role: Role;
  /** Why the role does not count for this command: its credential is limited. Absent where only the role counts. */
  readonly barred?: string;
}

/** Throws a Refusal of kind forbidden unless the caller may, and has a role at or above `least`. */
export function requireRole(by: Acting, least: Role, to: string): void {
  if (by.barred !== undefined) refuse("forbidden", by.barred);
  if (!atLeast(by.role, least)) refuse("forbidden", `only ${least} or above may ${to}`);
}

/** The scopes of service keys. A key without scopes may do all that its role may. */
export const scopes = [
  "events:read",
  "events:write",
  "destinations:read",
  "destinations:write",
  "senders:read",
  "senders:write",
  "users:read",
  "users:write",
  "audit:read",
  "portal:write",
] as const;

export type Scope = (typeof scopes)[number];

/** The rights that a portal link can give its visitor. */
export const portalRights = ["read", "replay", "test", "configure"] as const;
/** One of {@link portalRights}. */
export type PortalRight = (typeof portalRights)[number];

/** Whether a key with these scopes has the one that is needed: a write scope includes the read scope beside it. */
export function grants(given: readonly Scope[], needed: Scope): boolean {
  return given.includes(needed) || given.some((scope) => scope === needed.replace(/:read$/, ":write"));
}
