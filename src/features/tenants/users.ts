import { refuse } from "../../kernel/domain/refusal.ts";
import { atLeast, requireRole } from "../../kernel/domain/roles.ts";
import type { TenantCommand } from "./decider-commands.ts";
import type { Tenant, TenantEvent, User } from "./facts.ts";

/** Throws a Refusal (forbidden, conflict). */
export function createUser(
  state: Tenant, { by, user, at }: Extract<TenantCommand, { type: "CreateUser" }>,
): TenantEvent[] {
  requireRole(by, "Developer", "create users");
  requireActiveOwner(state);
  if (!atLeast(by.role, user.role)) {
    refuse("forbidden", `role: ${by.role} may not create a user with the role ${user.role}`);
  }
  if (state.users.has(user.userId)) refuse("conflict", "the user exists already");
  return [{ type: "UserCreated", data: { tenantId: state.id, ...user, at } }];
}

/** Throws a Refusal (not-found, forbidden, rejected). */
export function changeUser(state: Tenant, command: Extract<TenantCommand, { type: "ChangeUser" }>): TenantEvent[] {
  const { by, at } = command;
  const user = state.users.get(command.userId) ?? refuse("not-found", "user not found");
  requireRole(by, "Viewer", "change users");
  requireActiveOwner(state);
  const self = by.userId === user.id;
  const newRole = command.role === user.role ? undefined : command.role;
  const newStatus = command.status === user.status ? undefined : command.status;
  if (!self && !atLeast(by.role, "Admin")) refuse("forbidden", `${by.role} may change only itself`);
  if (user.role === "Owner" && by.role !== "Owner") refuse("forbidden", "only an Owner may change an Owner");
  if (newRole && !atLeast(by.role, "Admin")) refuse("forbidden", "role: only Admin or Owner may change roles");
  if (newRole === "Owner" && by.role !== "Owner") refuse("forbidden", "role: only an Owner may promote to Owner");
  if (newStatus && !atLeast(by.role, "Admin")) refuse("forbidden", "status: only Admin or Owner may change it");
  if ((newRole ?? newStatus) !== undefined && isLastActiveOwner(state, user)) {
    refuse("rejected", "the last active Owner can be neither demoted nor deactivated");
  }
  const ids = { tenantId: state.id, userId: user.id };
  const events: TenantEvent[] = [];
  if (command.email && command.email.sealed !== user.email) {
    const { sealed: email, hash: emailHash } = command.email;
    events.push({ type: "UserEmailChanged", data: { ...ids, email, emailHash, at } });
  }
  if (command.passwordHash !== undefined) {
    events.push({ type: "UserPasswordChanged", data: { ...ids, passwordHash: command.passwordHash, at } });
  }
  if (newRole) {
    const { role: from, status } = user;
    events.push({ type: "UserRoleChanged", data: { ...ids, from, role: newRole, status, at } });
  }
  if (newStatus) {
    const role = newRole ?? user.role;
    events.push({ type: "UserStatusChanged", data: { ...ids, from: user.status, status: newStatus, role, at } });
  }
  return events;
}

/** Throws a Refusal (not-found, forbidden, rejected). */
export function deleteUser(
  state: Tenant, { by, userId, at }: Extract<TenantCommand, { type: "DeleteUser" }>,
): TenantEvent[] {
  const user = state.users.get(userId) ?? refuse("not-found", "user not found");
  requireRole(by, "Admin", "delete users");
  if (user.role === "Owner" && by.role !== "Owner") refuse("forbidden", "only an Owner may delete an Owner");
  if (isLastActiveOwner(state, user)) refuse("rejected", "the last active Owner cannot be deleted");
  return [{ type: "UserDeleted", data: { tenantId: state.id, userId, role: user.role, status: user.status, at } }];
}

/** Deactivates users of a tenant that is about to be erased, its last active Owner included. */
export function deactivateUsers(
  state: Tenant, { most, at }: Extract<TenantCommand, { type: "DeactivateUsers" }>,
): TenantEvent[] {
  const active = [...state.users.values()].filter(({ status }) => status === "Active").slice(0, most);
  return active.map(({ id: userId, role, status: from }) => (
    { type: "UserStatusChanged", data: { tenantId: state.id, userId, from, status: "Inactive", role, at } }));
}

/** Throws a Refusal (conflict) where the tenant has no active Owner: then it is being erased. */
export function requireActiveOwner(state: Tenant): void {
  for (const user of state.users.values()) if (isActiveOwner(user)) return;
  refuse("conflict", "the tenant is being erased");
}

function isLastActiveOwner(state: Tenant, user: User): boolean {
  if (!isActiveOwner(user)) return false;
  for (const other of state.users.values()) if (other !== user && isActiveOwner(other)) return false;
  return true;
}

function isActiveOwner({ role, status }: User): boolean {
  return role === "Owner" && status === "Active";
}
