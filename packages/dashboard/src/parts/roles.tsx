import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";

/** A role of a person. */
export type Role = Schemas["User"]["role"];
/** A role of a machine. */
type ServiceRole = Schemas["ServiceAccount"]["role"];

/** Roles, the lowest first. */
export const roles = ["Viewer", "Developer", "Admin", "Owner"] as const satisfies readonly Role[];

const codes = { Viewer: 20, Developer: 0, Admin: 1, Owner: 10 } as const satisfies Record<Role, number>;

/** The rights of each role, for the choice of one. */
const duties: Readonly<Record<Role, string>> = {
  Viewer: "sees everything but secrets",
  Developer: "also destinations, senders, API keys, replays",
  Admin: "also people, machines, settings, purges",
  Owner: "everything, other Owners too",
};

/** Whether a role has all the rights of another. */
export function atLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** The roles that a person of a role may give to people: none above their own. */
export function rolesFor(own: Role): readonly Role[] {
  return roles.filter((role) => atLeast(own, role));
}

/** The roles that a person of a role may give to machines: never Owner. */
export function serviceRolesFor(own: Role): readonly ServiceRole[] {
  return rolesFor(own).filter((role) => role !== "Owner");
}

/** Whether a form's text is a role of people. */
export function isRole(text: string | undefined): text is Role {
  return roles.some((role) => role === text);
}

/** Whether a form's text is a role of machines. */
export function isServiceRole(text: string | undefined): text is ServiceRole {
  return isRole(text) && text !== "Owner";
}

/** The number that stands for a role in requests. */
export function codeOf<Given extends Role>(role: Given): (typeof codes)[Given] {
  return codes[role];
}

/** Choices of a `select` among roles. */
export function RoleOptions({ of }: { readonly of: readonly Role[] }): ReactNode {
  return of.map((role) => <option key={role} value={role}>{role}: {duties[role]}</option>);
}
