import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { changesOf } from "../../kernel/domain/settings.ts";
import { inviteUsed } from "../people/invites/decide.ts";
import type { ActingUser, TenantCommand } from "./decider-commands.ts";
import { tenantFacts, type Tenant, type TenantEvent, type TenantState } from "./facts.ts";
import { changeUser, createUser, deactivateUsers, deleteUser, requireActiveOwner } from "./users.ts";

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
