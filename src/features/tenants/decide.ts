import type { DataOf } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole, type Acting, type Role, atLeast } from "../../kernel/domain/roles.ts";
import { changesOf, type NewValues } from "../../kernel/domain/settings.ts";
import { expiryOf, previousAfter, previousOf, requireFewSecrets } from "../../kernel/domain/signing-secrets.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { inviteUsed } from "../people/invites/decide.ts";
import {
  currentSecret, tenantFacts, type Tenant, type TenantEvent, type TenantState, type TenantSettings, type UserStatus,
  type User,
} from "./facts.ts";

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: TenantState, command: TenantCommand): TenantEvent[] {
  if (command.type === "CreateTenant") {
    if (state) refuse("conflict", "the tenant exists already");
    const { tenant, owner, at } = command;
    return [
      { type: "TenantCreated", data: { ...tenant, at } },
      { type: "UserCreated", data: { tenantId: tenant.tenantId, ...owner, role: "Owner", at } },
    ];
  }
  if (!state) refuse("not-found", "tenant not found");
  if ("by" in command) requirePresent(state, command.by);
  if ("reservation" in command && command.reservation !== undefined && state.refused.has(command.reservation)) {
    refuse("conflict", `${command.type === "ChangeTenant" ? "name" : "email"}: was given to another meanwhile`);
  }
  switch (command.type) {
    case "ChangeTenant":
      return changeTenant(state, command);
    case "RegenerateWebhookSecret":
      return regenerateWebhookSecret(state, command);
    case "ExpireWebhookSecrets":
      requireRole(command.by, "Developer", "end webhook secrets");
      return expireSecrets(state, command.at);
    case "RecordExpiredSecrets":
      return expireSecrets(state, command.at, (expiresAt) => expiresAt > command.at);
    case "CreateUser":
      return createUser(state, command);
    case "RegisterUser": {
      const { user, at } = command;
      requireActiveOwner(state);
      if (state.users.has(user.userId)) refuse("conflict", inviteUsed);
      return [{ type: "UserCreated", data: { tenantId: state.id, ...user, at } }];
    }
    case "ChangeUser":
      return changeUser(state, command);
    case "DeleteUser":
      return deleteUser(state, command);
    case "ForgetUser": {
      const { userId, at } = command;
      if (state.users.has(userId)) refuse("conflict", "the user is not deleted");
      return [{ type: "UserForgotten", data: { tenantId: state.id, userId, at } }];
    }
    case "ResetOwnerPassword": {
      const { userId, passwordHash, at } = command;
      const user = state.users.get(userId) ?? refuse("not-found", "user not found");
      if (user.role !== "Owner") refuse("rejected", `the user is not an Owner; its role is ${user.role}`);
      return [{ type: "UserPasswordChanged", data: { tenantId: state.id, userId, passwordHash, at } }];
    }
    case "RewrapDataKey": {
      const { from, dataKey, at } = command;
      if (state.dataKey !== from) return [];
      return [{ type: "TenantDataKeyRewrapped", data: { tenantId: state.id, dataKey, at } }];
    }
    case "DeactivateUsers":
      return deactivateUsers(state, command);
    case "EraseTenant":
      return [{ type: "TenantErased", data: { tenantId: state.id, at: command.at } }];
  }
}

/** Throws a Refusal (unauthenticated) where the user was changed or deleted after its token was checked. */
function requirePresent(state: Tenant, { userId, role }: ActingUser): void {
  if (userId === undefined) return;
  const user = state.users.get(userId);
  if (user?.status !== "Active" || user.role !== role) refuse("unauthenticated", "the session is over");
}

function changeTenant(state: Tenant, command: Extract<TenantCommand, { type: "ChangeTenant" }>): TenantEvent[] {
  requireRole(command.by, "Admin", "change the tenant");
  return changesOf(tenantFacts, state, command, { tenantId: state.id, at: command.at });
}

function regenerateWebhookSecret(
  state: Tenant, command: Extract<TenantCommand, { type: "RegenerateWebhookSecret" }>,
): TenantEvent[] {
  const { by, webhookSecret, webhookSecretFingerprint, gracePeriodSeconds, at } = command;
  requireRole(by, "Developer", "regenerate the webhook secret");
  const replacement = { fingerprint: webhookSecretFingerprint, gracePeriodSeconds, at };
  const previous = previousAfter(currentSecret(state), state.previousSecrets, replacement);
  requireFewSecrets(previous.length + 1);
  const data = { tenantId: state.id, webhookSecret, webhookSecretFingerprint, at, ...previousOf(previous) };
  return [{ type: "WebhookSecretRegenerated", data }];
}

function expireSecrets(state: Tenant, at: Timestamp, stays = (_expiresAt: Timestamp) => false): TenantEvent[] {
  const expiry = expiryOf(state.previousSecrets, stays);
  return expiry ? [{ type: "WebhookSecretsExpired", data: { tenantId: state.id, at, ...expiry } }] : [];
}

/** The user or service account on whose behalf a command runs, as its verified credential says. */
export interface ActingUser extends Acting {
  /** Absent of a service account. */
  readonly userId?: string;
}

/** `reservation`: the name of the reservation that holds the new name or email for this command. */
export type TenantCommand =
  | {
      readonly type: "CreateTenant";
      readonly tenant: Omit<DataOf<TenantEvent, "TenantCreated">, "at">;
      readonly owner: UserData;
      readonly at: Timestamp;
    }
  | NewValues<TenantSettings> & {
      readonly type: "ChangeTenant";
      readonly by: ActingUser;
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  | {
      readonly type: "RegenerateWebhookSecret";
      readonly by: ActingUser;
      readonly webhookSecret: string;
      readonly webhookSecretFingerprint: string;
      /** How long the older secrets sign, too; 0 ends them all. */
      readonly gracePeriodSeconds: number;
      readonly at: Timestamp;
    }
  /** All older secrets sign no more. */
  | { readonly type: "ExpireWebhookSecrets"; readonly by: ActingUser; readonly at: Timestamp }
  /** Records the older secrets whose end has come. */
  | { readonly type: "RecordExpiredSecrets"; readonly at: Timestamp }
  | {
      readonly type: "CreateUser";
      readonly by: ActingUser;
      readonly user: UserData & { readonly role: Role };
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  /** Makes an invited person a user: the caller knows the invite's token. */
  | {
      readonly type: "RegisterUser";
      readonly user: UserData & { readonly role: Role };
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  | {
      readonly type: "ChangeUser";
      readonly by: ActingUser;
      readonly userId: string;
      readonly email?: { readonly sealed: string; readonly hash: string } | undefined;
      readonly reservation?: string | undefined;
      readonly passwordHash?: string | undefined;
      readonly role?: Role | undefined;
      readonly status?: UserStatus | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "DeleteUser"; readonly by: ActingUser; readonly userId: string; readonly at: Timestamp }
  /** The addresses of a deleted user cannot be unsealed any more. */
  | { readonly type: "ForgetUser"; readonly userId: string; readonly at: Timestamp }
  | {
      readonly type: "ResetOwnerPassword";
      readonly userId: string;
      readonly passwordHash: string;
      readonly at: Timestamp;
    }
  /** `from`: the wrapped data key that `dataKey` replaces. */
  | { readonly type: "RewrapDataKey"; readonly from: string; readonly dataKey: string; readonly at: Timestamp }
  /** The tenant is about to be erased: up to `most` more of its active users, of any role, can no longer log in. */
  | { readonly type: "DeactivateUsers"; readonly most: number; readonly at: Timestamp }
  | { readonly type: "EraseTenant"; readonly at: Timestamp };

interface UserData {
  readonly userId: string;
  /** Sealed under the person's key. */
  readonly email: string;
  readonly emailHash: string;
  readonly passwordHash: string;
}

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
