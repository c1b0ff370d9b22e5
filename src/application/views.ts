import type { ApiKeyDocument } from "../../projections/api-keys/api-keys.ts";
import type { DestinationDocument, Standing } from "../../projections/destinations/destinations.ts";
import type { InviteDocument } from "../../projections/invites/invites.ts";
import type { SenderDocument } from "../../projections/senders/senders.ts";
import type { UserDocument } from "../../projections/users/users.ts";
import type { ApiKeyEvent } from "../domain/api-key/events.ts";
import type { AuthType } from "../domain/destination/events.ts";
import type { DataOf } from "../domain/domain-event.ts";
import type { EventStatus, FailureReason } from "../domain/event/events.ts";
import type { Webhook } from "../domain/event/state.ts";
import type { InviteStatus } from "../domain/invite/invite.ts";
import type { Role } from "../domain/roles.ts";
import type { Mapping } from "../domain/sender/events.ts";
import type { Tenant, User } from "../domain/tenant/state.ts";

/** A tenant as the API shows it. */
export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly maxTrys: number;
  readonly circuitBreakerTimer: number;
  readonly retentionDays: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The API's view of a folded tenant. */
export function tenantView(tenant: Tenant): TenantView {
  const { id, name, maxTrys, circuitBreakerTimer, retentionDays, createdAt, updatedAt } = tenant;
  return { id, name, maxTrys, circuitBreakerTimer, retentionDays, createdAt, updatedAt };
}

/** A user as the API shows it, and as the read models have it. */
export type UserView = UserDocument;

/** The API's view of a folded user, with its opened email. */
export function userView(tenantId: string, user: User, email: string | null): UserView {
  const { id, status, role, createdAt, updatedAt } = user;
  return { id, tenantId, email, status, role, createdAt, updatedAt };
}

/** A destination as the API shows it; `authType` is there only when authentication is configured. */
export interface DestinationView extends Standing {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly serverRateLimit: number;
  readonly authType?: AuthType;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The API's view of a destination as the read models have it, with its standing. */
export function destinationView(
  document: Omit<DestinationDocument, "active" | "circuit" | "openUntil" | "wakeAt">, standing: Standing,
): DestinationView {
  const { id, tenantId, url, serverRateLimit, authType, createdAt, updatedAt } = document;
  return { id, tenantId, url, ...standing, serverRateLimit, ...(authType && { authType }), createdAt, updatedAt };
}

/** A sender as the API shows it. */
export interface SenderView {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly destinationUrlId: string;
  readonly status: "Active" | "Inactive";
  readonly mapping: Mapping | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The API's view of a sender as the read models have it. */
export function senderView(document: SenderDocument): SenderView {
  const { id, tenantId, name, destinationUrlId, active, mapping, createdAt, updatedAt } = document;
  const status = active ? "Active" : "Inactive";
  return { id, tenantId, name, destinationUrlId, status, mapping, createdAt, updatedAt };
}

/** An API key as the API shows it, and as the read models have it. */
export type ApiKeyView = ApiKeyDocument;

/** The API's view of a key just issued. */
export function apiKeyView(issued: DataOf<ApiKeyEvent, "ApiKeyIssued">): ApiKeyView {
  const { keyId: id, tenantId, name, prefix, last4, expiresAt, at } = issued;
  return { id, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null };
}

/** An invite as the API shows it. */
export interface InviteView {
  readonly id: string;
  readonly tenantId: string;
  /** Null once the user who came of it, or who had the address, was deleted. */
  readonly email: string | null;
  readonly role: Role;
  readonly status: InviteStatus | "Expired";
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** The API's view of an invite, its email opened, at `now` (ISO 8601 UTC). */
export function inviteView(invite: InviteDocument, now: string): InviteView {
  const { id, tenantId, email, role, createdAt, expiresAt } = invite;
  const status = invite.status === "Pending" && expiresAt <= now ? "Expired" : invite.status;
  return { id, tenantId, email, role, status, createdAt, expiresAt };
}

/** An event as the API shows it. */
export interface EventView {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly payload: string;
  readonly status: EventStatus;
  readonly idempotencyKey: string | null;
  readonly currentRetryCount: number;
  readonly nextAttemptAt: string | null;
  readonly acceptedAt: string;
  readonly deliveredAt: string | null;
}

/** The API's view of a folded event. */
export function eventView(webhook: Webhook): EventView {
  return {
    id: webhook.id,
    tenantId: webhook.tenantId,
    destinationUrlId: webhook.destinationId,
    payload: webhook.payload,
    status: webhook.status,
    idempotencyKey: webhook.idempotencyKey,
    currentRetryCount: webhook.retryCount,
    nextAttemptAt: webhook.nextAttemptAt,
    acceptedAt: webhook.acceptedAt,
    deliveredAt: webhook.deliveredAt,
  };
}

/** How an attempt ended; `unknown`: its worker was lost, the receiver may have seen it. */
export type AttemptOutcome = "in progress" | "succeeded" | "failed" | "unknown";

/** One attempt to deliver an event. What has no value yet, or never came, is null. */
export interface AttemptView {
  readonly number: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly reason: FailureReason | null;
  readonly error: string | null;
  /** Secrets are masked. */
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  /** Whether the receiver sent, or may have sent, more than `responseBody`. */
  readonly truncated: boolean;
  readonly destinationUrl: string;
}
