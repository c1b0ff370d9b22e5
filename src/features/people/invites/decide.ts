import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { atLeast, requireRole, type Acting, type Role } from "../../../kernel/domain/roles.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import { dayMs, type Timestamp } from "../../../kernel/domain/time.ts";
import type { AggregateType } from "../../../kernel/log/aggregates.ts";
import type { InviteEvent } from "./facts.ts";

export const inviteValidMs = 7 * dayMs;

/** The status in the log; the time tells whether an invite has expired. */
export type InviteStatus = "Pending" | "Accepted" | "Revoked";

/** An invite as its own stream tells it; `id` will be the user's, too. */
export interface Invite {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: string;
  readonly status: InviteStatus;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  readonly acceptedAt: Timestamp | null;
}

/** Undefined before the invite was made; a revoked or forgotten one stays, as Revoked. */
export type InviteState = Invite | undefined;

/** Commands to an invite; `by` is the caller, `at` the time. */
export type InviteCommand =
  | {
      readonly type: "CreateInvite";
      readonly by: Acting;
      readonly invite: Omit<DataOf<InviteEvent, "InviteCreated">, "at">;
      readonly at: Timestamp;
    }
  /** `abandoned`: the process that accepted the invite before ended without creating the user, and never will. */
  | {
      readonly type: "RevokeInvite";
      readonly by: Acting;
      readonly abandoned: boolean;
      readonly at: Timestamp;
    }
  | { readonly type: "AcceptInvite"; readonly abandoned: boolean; readonly at: Timestamp }
  | { readonly type: "ForgetInvite"; readonly at: Timestamp };

export const inviteUsed = "the invite was used already";

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: InviteState, command: InviteCommand): InviteEvent[] {
  const { at } = command;
  if (command.type === "CreateInvite") {
    if (state) refuse("conflict", "the invite exists already");
    requireInviter(command.by, command.invite.role);
    return [{ type: "InviteCreated", data: { ...command.invite, at } }];
  }
  if (!state) refuse("not-found", "invite not found");
  const ids = { inviteId: state.id, tenantId: state.tenantId };
  if (command.type === "RevokeInvite") {
    requireRole(command.by, "Admin", "revoke invites");
    if (state.status === "Accepted" && !command.abandoned) refuse("conflict", inviteUsed);
    if (state.status === "Revoked") return [];
    return [{ type: "InviteRevoked", data: { ...ids, tokenHash: state.tokenHash, at } }];
  }
  if (command.type === "ForgetInvite") {
    // The invite's address belongs to a user by now, and is forgotten with that user.
    if (state.status === "Accepted") return [];
    return [{ type: "InviteForgotten", data: { ...ids, tokenHash: state.tokenHash, at } }];
  }
  requireUsable(state, at, command.abandoned);
  return [{ type: "InviteAccepted", data: { ...ids, at } }];
}

function requireInviter(by: Acting, role: Role): void {
  requireRole(by, "Admin", "invite users");
  if (!atLeast(by.role, role)) refuse("forbidden", `role: ${by.role} may not invite a user with the role ${role}`);
}

/** Throws a Refusal: not-found when revoked, conflict when used (unless that was abandoned), rejected when expired. */
export function requireUsable(invite: Invite, now: Timestamp, abandoned: boolean): void {
  if (invite.status === "Revoked") refuse("not-found", "invite not found");
  if (invite.status === "Accepted" && !abandoned) refuse("conflict", inviteUsed);
  if (invite.expiresAt <= now) refuse("rejected", "the invite has expired");
}

/** Folds one fact in. */
export function evolve(state: InviteState, event: InviteEvent): InviteState {
  if (event.type === "InviteCreated") {
    const { inviteId: id, at: createdAt, ...rest } = event.data;
    return { ...rest, id, createdAt, status: "Pending", acceptedAt: null };
  }
  if (!state) return state;
  if (event.type === "InviteRevoked" || event.type === "InviteForgotten") return { ...state, status: "Revoked" };
  return { ...state, status: "Accepted", acceptedAt: event.data.at };
}

export const invites: AggregateType<Invite, InviteEvent> = {
  category: "invite",
  stream: streams.invite,
  evolve,
};
