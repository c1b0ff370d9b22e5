import type { Standing } from "../../projections/destinations/destinations.ts";
import type { ApiKeyEvent } from "../domain/api-key/events.ts";
import type { AuthType } from "../domain/destination/events.ts";
import type { Destination } from "../domain/destination/state.ts";
import type { EventStatus } from "../domain/event/events.ts";
import type { Webhook } from "../domain/event/state.ts";
import type { Role } from "../domain/roles.ts";
import type { UserStatus } from "../domain/tenant/events.ts";
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

/** A user as the API shows it. */
export interface UserView {
  readonly id: string;
  readonly tenantId: string;
  /** Null only while a deletion is under way. */
  readonly email: string | null;
  readonly status: UserStatus;
  readonly role: Role;
  readonly createdAt: string;
  readonly updatedAt: string;
}

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

/** The API's view of a folded destination. */
export function destinationView(destination: Destination, standing: Standing): DestinationView {
  const { id, tenantId, url, serverRateLimit, auth, createdAt, updatedAt } = destination;
  const authType = auth && { authType: auth.type };
  return { id, tenantId, url, ...standing, serverRateLimit, ...authType, createdAt, updatedAt };
}

/** An API key as the API shows it. */
export interface ApiKeyView {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

/** The API's view of a key just issued. */
export function apiKeyView(issued: Extract<ApiKeyEvent, { type: "ApiKeyIssued" }>["data"]): ApiKeyView {
  const { keyId: id, tenantId, name, prefix, last4, expiresAt, at } = issued;
  return { id, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null };
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
