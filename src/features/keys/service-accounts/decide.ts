import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { atLeast, requireRole, type Acting } from "../../../kernel/domain/roles.ts";
import { changesOf, type NewValues } from "../../../kernel/domain/settings.ts";
import type { Timestamp } from "../../../kernel/domain/time.ts";
import { endOf } from "../rotation.ts";
import {
  serviceAccountFacts, type ServiceAccount, type ServiceAccountEvent, type ServiceAccountSettings,
  type ServiceAccountState, type ServiceRole,
} from "./facts.ts";

/** Keys of one account at most: each request by one of them reads the account's stream. */
export const mostServiceKeys = 100;

/** A command to a service account, on behalf of `by`. */
export type ServiceAccountCommand = ServiceAccountOrder & { readonly by: Acting; readonly at: Timestamp };

/** The content of a command. In a change, fields left out (undefined) stay as they are. */
export type ServiceAccountOrder =
  | {
      readonly type: "CreateServiceAccount";
      readonly account: Omit<DataOf<ServiceAccountEvent, "ServiceAccountCreated">, "at">;
      readonly active: boolean;
    }
  | NewValues<ServiceAccountSettings> & {
      readonly type: "ChangeServiceAccount";
      readonly active?: boolean | undefined;
    }
  | { readonly type: "DeleteServiceAccount" }
  | { readonly type: "IssueServiceKey"; readonly key: IssuedKey }
  | {
      readonly type: "RotateServiceKey";
      readonly keyId: string;
      readonly successor: IssuedKey;
      readonly overlapSeconds: number;
    }
  | { readonly type: "RevokeServiceKey"; readonly keyId: string };

type IssuedKey = Omit<DataOf<ServiceAccountEvent, "ServiceKeyIssued">, "serviceAccountId" | "tenantId" | "at">;
type Change = Extract<ServiceAccountCommand, { type: "ChangeServiceAccount" }>;

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: ServiceAccountState, command: ServiceAccountCommand): ServiceAccountEvent[] {
  const { by, at } = command;
  if (command.type === "CreateServiceAccount") {
    requireManager(by, command.account.role);
    if (state) refuse("conflict", "the service account exists already");
    const { account, active } = command;
    const { serviceAccountId, tenantId } = account;
    const events: ServiceAccountEvent[] = [{ type: "ServiceAccountCreated", data: { ...account, at } }];
    if (!active) events.push({ type: "ServiceAccountDeactivated", data: { serviceAccountId, tenantId, at } });
    return events;
  }
  if (!state || state.deleted) refuse("not-found", "service account not found");
  const ids = { serviceAccountId: state.id, tenantId: state.tenantId, at };
  switch (command.type) {
    case "ChangeServiceAccount":
      return change(state, command);
    case "DeleteServiceAccount": {
      requireManager(by, state.role);
      const revoked = [...state.keys.values()].map(({ id: keyId, keyHash }): ServiceAccountEvent =>
        ({ type: "ServiceKeyRevoked", data: { ...ids, keyId, keyHash } }));
      return [...revoked, { type: "ServiceAccountDeleted", data: ids }];
    }
    case "IssueServiceKey":
      requireManager(by, state.role);
      requireRoom(state);
      return [{ type: "ServiceKeyIssued", data: { ...ids, ...command.key } }];
    case "RotateServiceKey": {
      const key = state.keys.get(command.keyId) ?? refuse("not-found", "service key not found");
      requireManager(by, state.role);
      requireRoom(state);
      const { keyId, successor } = command;
      const rotated = { ...ids, keyId, successorId: successor.keyId, expiresAt: endOf(key, command) };
      return [
        { type: "ServiceKeyIssued", data: { ...ids, ...successor } },
        { type: "ServiceKeyRotated", data: rotated },
      ];
    }
    case "RevokeServiceKey": {
      const { keyHash } = state.keys.get(command.keyId) ?? refuse("not-found", "service key not found");
      requireManager(by, state.role);
      return [{ type: "ServiceKeyRevoked", data: { ...ids, keyId: command.keyId, keyHash } }];
    }
  }
}

function requireRoom({ keys }: ServiceAccount): void {
  if (keys.size < mostServiceKeys) return;
  refuse("rejected", `the service account has ${mostServiceKeys} keys, which is the most; delete one`);
}

function change(state: ServiceAccount, { by, active, at, ...settings }: Change): ServiceAccountEvent[] {
  requireManager(by, state.role);
  if (settings.role !== undefined) requireManager(by, settings.role);
  const ids = { serviceAccountId: state.id, tenantId: state.tenantId, at };
  const events: ServiceAccountEvent[] = changesOf(serviceAccountFacts, state, settings, ids);
  if (active !== undefined && active !== state.active) {
    events.push({ type: active ? "ServiceAccountActivated" : "ServiceAccountDeactivated", data: ids });
  }
  return events;
}

function requireManager(by: Acting, role: ServiceRole): void {
  requireRole(by, "Admin", "manage service accounts and their keys");
  if (!atLeast(by.role, role)) refuse("forbidden", `role: ${by.role} may not manage service accounts that are ${role}`);
}
