import { refuse } from "./refusal.ts";

/** Roles, lowest first. */
export const roles = ["Viewer", "Developer", "Admin", "Owner"] as const;
/** One of {@link roles}; each has all the rights of those before it. */
export type Role = (typeof roles)[number];

/** The numbers that stand for roles in requests; their order says nothing about rank. */
const roleCodes: Readonly<Record<Role, number>> = { Developer: 0, Admin: 1, Owner: 10, Viewer: 20 };

/** The role of a code used in requests (0, 1, 10, 20), or undefined. */
export function roleOfCode(code: number): Role | undefined {
  return roles.find((role) => roleCodes[role] === code);
}

/** Whether `role` is at or above `least`. */
export function atLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Throws a Refusal of kind forbidden unless the caller's role is at or above `least`. */
export function requireRole(by: { readonly role: Role }, least: Role, to: string): void {
  if (!atLeast(by.role, least)) refuse("forbidden", `only ${least} or above may ${to}`);
}
