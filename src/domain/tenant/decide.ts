import type { DataOf } from "../domain-event.ts";
import { refuse } from "../refusal.ts";
import { atLeast, requireRole, type Role } from "../roles.ts";
import type { Timestamp } from "../time.ts";
import type { TenantEvent, UserStatus } from "./events.ts";
import type { Tenant, TenantState, User } from "./state.ts";

/** The user on whose behalf a command runs, as the verified token says. */
export interface ActingUser {
  readonly userId: string;
  readonly role: Role;
}

/** `reservation`: the name of the reservation that holds the new name or email for this command. */
export type TenantCommand =
  | {
      readonly type: "CreateTenant";
      readonly tenant: Omit<DataOf<TenantEvent, "TenantCreated">, "at">;
      readonly owner: UserData;
      readonly at: Timestamp;
    }
  | {
      readonly type: "ChangeTenant";
      readonly by: ActingUser;
      readonly name?: { readonly text: string; readonly hash: string } | undefined;
      readonly reservation?: string | undefined;
      readonly maxTrys?: number | undefined;
      readonly circuitBreakerTimer?: number | undefined;
      /** null: events are kept. */
      readonly retentionDays?: number | null | undefined;
      readonly at: Timestamp;
    }
  | {
      readonly type: "RegenerateWebhookSecret";
      readonly by: ActingUser;
      readonly webhookSecret: string;
      readonly webhookSecretFingerprint: string;
      readonly at: Timestamp;
    }
  | {
      readonly type: "CreateUser";
      readonly by: ActingUser;
      readonly user: UserData & { readonly role: Role };
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  /** A user with an invite: whoever asks for it was told the invite's token. */
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
      /** Present only when it changes. */
      readonly passwordHash?: string | undefined;
      readonly role?: Role | undefined;
      readonly status?: UserStatus | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "DeleteUser"; readonly by: ActingUser; readonly userId: string; readonly at: Timestamp }
  /** Nothing opens a deleted user's addresses any more. */
  | { readonly type: "ForgetUser"; readonly userId: string; readonly at: Timestamp }
  /** An operator lets an Owner in again. */
  | {
      readonly type: "ResetOwnerPassword";
      readonly userId: string;
      readonly passwordHash: string;
      readonly at: Timestamp;
    }
  /** `from`: the wrapped data key that `dataKey` replaces. */
  | { readonly type: "RewrapDataKey"; readonly from: string; readonly dataKey: string; readonly at: Timestamp }
  | { readonly type: "EraseTenant"; readonly at: Timestamp };

interface UserData {
  readonly userId: string;
  /** Sealed under the person's key. */
  readonly email: string;
  readonly emailHash: string;
  readonly passwordHash: string;
}

/** What a command changes; an empty list when it changes nothing. Throws a Refusal. */
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
    refuse("conflict", "the name was given to another meanwhile");
  }
  switch (command.type) {
    case "ChangeTenant":
      return changeTenant(state, command);
    case "RegenerateWebhookSecret": {
      requireRole(command.by, "Developer", "regenerate the webhook secret");
      const { webhookSecret, webhookSecretFingerprint, at } = command;
      const data = { tenantId: state.id, webhookSecret, webhookSecretFingerprint, at };
      return [{ type: "WebhookSecretRegenerated", data }];
    }
    case "CreateUser":
      return createUser(state, command);
    case "RegisterUser": {
      const { user, at } = command;
      if (state.users.has(user.userId)) refuse("conflict", "the invite was used already");
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
    case "EraseTenant":
      return [{ type: "TenantErased", data: { tenantId: state.id, at: command.at } }];
  }
}

/** A token may be good when a command is given and its user no more what it says when that is decided. */
function requirePresent(state: Tenant, { userId, role }: ActingUser): void {
  const user = state.users.get(userId);
  if (user?.status !== "Active" || user.role !== role) refuse("unauthenticated", "the session is over");
}

function changeTenant(state: Tenant, command: Extract<TenantCommand, { type: "ChangeTenant" }>): TenantEvent[] {
  requireRole(command.by, "Admin", "change the tenant");
  const { name, at } = command;
  const maxTrys = command.maxTrys ?? state.maxTrys;
  const circuitBreakerTimer = command.circuitBreakerTimer ?? state.circuitBreakerTimer;
  const events: TenantEvent[] = [];
  if (name && name.text !== state.name) {
    events.push({ type: "TenantRenamed", data: { tenantId: state.id, name: name.text, nameHash: name.hash, at } });
  }
  if (maxTrys !== state.maxTrys || circuitBreakerTimer !== state.circuitBreakerTimer) {
    const data = { tenantId: state.id, maxTrys, circuitBreakerTimer, at };
    events.push({ type: "TenantDeliveryPolicyChanged", data });
  }
  const { retentionDays = state.retentionDays } = command;
  if (retentionDays !== state.retentionDays) {
    events.push({ type: "TenantRetentionChanged", data: { tenantId: state.id, retentionDays, at } });
  }
  return events;
}

function createUser(state: Tenant, { by, user, at }: Extract<TenantCommand, { type: "CreateUser" }>): TenantEvent[] {
  requireRole(by, "Developer", "create users");
  if (!atLeast(by.role, user.role)) {
    refuse("forbidden", `role: ${by.role} may not create a user with the role ${user.role}`);
  }
  if (state.users.has(user.userId)) refuse("conflict", "the user exists already");
  return [{ type: "UserCreated", data: { tenantId: state.id, ...user, at } }];
}

function changeUser(state: Tenant, command: Extract<TenantCommand, { type: "ChangeUser" }>): TenantEvent[] {
  const { by, at } = command;
  const user = state.users.get(command.userId) ?? refuse("not-found", "user not found");
  const self = by.userId === user.id;
  const newRole = command.role === user.role ? undefined : command.role;
  const newStatus = command.status === user.status ? undefined : command.status;
  if (!self && !atLeast(by.role, "Admin")) refuse("forbidden", `${by.role} may change only itself`);
  if (user.role === "Owner" && !atLeast(by.role, "Owner") && !self) {
    refuse("forbidden", "only an Owner may change an Owner");
  }
  if (newRole && !atLeast(by.role, "Admin")) refuse("forbidden", "role: only Admin or Owner may change roles");
  if (newRole === "Owner" && by.role !== "Owner") refuse("forbidden", "role: only an Owner may promote to Owner");
  if (newStatus && !atLeast(by.role, "Admin")) refuse("forbidden", "status: only Admin or Owner may change it");
  if ((newRole ?? newStatus) !== undefined && isLastActiveOwner(state, user)) {
    refuse("rejected", "the last active Owner can be neither demoted nor deactivated");
  }
  const ids = { tenantId: state.id, userId: user.id };
  const events: TenantEvent[] = [];
  if (command.email && (command.email.hash !== user.emailHash || command.email.sealed !== user.email)) {
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

function deleteUser(state: Tenant, { by, userId, at }: Extract<TenantCommand, { type: "DeleteUser" }>): TenantEvent[] {
  const user = state.users.get(userId) ?? refuse("not-found", "user not found");
  requireRole(by, "Admin", "delete users");
  if (user.role === "Owner" && by.role !== "Owner") refuse("forbidden", "only an Owner may delete an Owner");
  if (isLastActiveOwner(state, user)) refuse("rejected", "the last active Owner cannot be deleted");
  return [{ type: "UserDeleted", data: { tenantId: state.id, userId, role: user.role, status: user.status, at } }];
}

function isLastActiveOwner(state: Tenant, user: User): boolean {
  const active = (other: User) => other.role === "Owner" && other.status === "Active";
  if (!active(user)) return false;
  for (const other of state.users.values()) if (other !== user && active(other)) return false;
  return true;
}
