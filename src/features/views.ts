import type { ApiKeyDocument } from "../../projections/api-keys/api-keys.ts";
import type { DestinationDocument } from "../../projections/destinations/destinations.ts";
import type { InviteDocument } from "../../projections/invites/invites.ts";
import type { SenderDocument } from "../../projections/senders/senders.ts";
import type {
  ServiceAccountDocument, ServiceKeyDocument,
} from "../../projections/service-accounts/service-accounts.ts";
import type { components } from "../../schemas/api.ts";
import destinationSchema from "../../schemas/responses/destination.json" with { type: "json" };
import senderSchema from "../../schemas/responses/sender.json" with { type: "json" };
import serviceAccountSchema from "../../schemas/responses/service-account.json" with { type: "json" };
import tenantSchema from "../../schemas/responses/tenant.json" with { type: "json" };
import userSchema from "../../schemas/responses/user.json" with { type: "json" };
import type { Actor, DataOf } from "../kernel/domain/domain-event.ts";
import type { Moment } from "../kernel/log/moments.ts";
import { fieldsOf } from "../kernel/read-models/fields-of.ts";
import type { Availability } from "./destinations/availability.ts";
import type { Webhook } from "./events/facts.ts";
import type { ApiKeyEvent } from "./keys/api-keys/facts.ts";
import type { ServiceAccountEvent } from "./keys/service-accounts/facts.ts";
import type { ReplayJob } from "./replays/facts.ts";
import type { Story } from "./story/story.ts";
import type { Tenant, User } from "./tenants/facts.ts";

/** Answers have their types from the schemas. */
type Schemas = components["schemas"];

/** A tenant as the API shows it. */
export type TenantView = Readonly<Schemas["Tenant"]>;

/** The API's view of a folded tenant. */
export function tenantView(tenant: Tenant): TenantView {
  return fieldsOf<TenantView>(tenantSchema, tenant);
}

/** A user as the API shows it. */
export type UserView = Readonly<Schemas["User"]>;

/** The API's view of a folded user, with its opened email. */
export function userView(tenantId: string, user: User, email: string | null): UserView {
  return fieldsOf<UserView>(userSchema, { ...user, tenantId, email });
}

/** A destination as the API shows it. */
export type DestinationView = Readonly<Schemas["Destination"]>;

/** The API's view of a destination as the read models have it, with its availability. */
export function destinationView(
  { authType, ...document }: Omit<DestinationDocument, "active" | "circuit" | "openUntil" | "wakeAt">,
  availability: Availability,
): DestinationView {
  return fieldsOf<DestinationView>(destinationSchema, { ...document, ...availability, ...(authType && { authType }) });
}

/** A sender as the API shows it. */
export type SenderView = Readonly<Schemas["Sender"]>;

/** The API's view of a sender as the read models have it. */
export function senderView(document: SenderDocument): SenderView {
  const searchFields = [...document.searchFields];
  return fieldsOf<SenderView>(senderSchema, { ...document, searchFields, status: statusOf(document) });
}

/** An API key as the API shows it, and as the read models have it. */
export type ApiKeyView = ApiKeyDocument;

/** An API key as it is shown once, with the key itself. */
export type CreatedApiKeyView = Readonly<Schemas["CreatedApiKey"]>;

/** The API's view of a key just issued. */
export function apiKeyView(issued: DataOf<ApiKeyEvent, "ApiKeyIssued">): ApiKeyView {
  const { keyId: id, tenantId, name, prefix, last4, expiresAt, at } = issued;
  return { id, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null };
}

/** A service account as the API shows it. */
export type ServiceAccountView = Readonly<Schemas["ServiceAccount"]>;

/** The API's view of a service account, folded or as the read models have it. */
export function serviceAccountView(account: ServiceAccountDocument): ServiceAccountView {
  return fieldsOf<ServiceAccountView>(serviceAccountSchema, { ...account, status: statusOf(account) });
}

/** A key of a service account as the API shows it, and as the read models have it. */
export type ServiceKeyView = ServiceKeyDocument;

/** A key of a service account as it is shown once, with the key itself. */
export type CreatedServiceKeyView = Readonly<Schemas["CreatedServiceKey"]>;

/** The API's view of a key just issued. */
export function serviceKeyView(issued: DataOf<ServiceAccountEvent, "ServiceKeyIssued">): ServiceKeyView {
  const { keyId: id, tenantId, serviceAccountId, name, prefix, last4, scopes, at: createdAt, expiresAt } = issued;
  return { id, tenantId, serviceAccountId, name, prefix, last4, scopes, createdAt, expiresAt };
}

/** An invite as the API shows it. */
export type InviteView = Readonly<Schemas["Invite"]>;

/** An invite as it is shown once, with its token. */
export type CreatedInviteView = Readonly<Schemas["CreatedInvite"]>;

/** The API's view of an invite, its email opened, at `now` (ISO 8601 UTC). */
export function inviteView(invite: InviteDocument, now: string): InviteView {
  const { id, tenantId, email, role, createdAt, expiresAt } = invite;
  const status = invite.status === "Pending" && expiresAt <= now ? "Expired" : invite.status;
  return { id, tenantId, email, role, status, createdAt, expiresAt };
}

/** An event as the API shows it. */
export type EventView = Readonly<Schemas["Event"]>;

/** An event as a summary shows it. */
export type EventSummaryView = Readonly<Schemas["EventSummary"]>;

/** The API's view of a folded event. None is a delivery of a message. */
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
    senderId: webhook.senderId,
    messageId: null,
    eventType: webhook.eventType,
    ownerId: webhook.ownerId,
    tags: webhook.tags,
    test: webhook.test,
    sourceEventId: webhook.sourceEventId,
  };
}

/** The story of an event as the API tells it, and the event and the moment that it is of. */
export type StoryView = Story & { readonly asOf: Moment; readonly event: EventView };

/** One attempt to deliver an event. */
export type AttemptView = Readonly<Schemas["Attempt"]>;

/** A replay as the API shows it. */
export type ReplayView = Readonly<Schemas["Replay"]>;

/** The API's view of a replay as its facts tell it. */
export function replayView(
  { job, actor }: { readonly job: ReplayJob; readonly actor: Actor },
): ReplayView {
  const { id, order, progress: { done, skipped }, state, startedAt, finishedAt } = job;
  return {
    id, state, matched: order.matched, done, skipped,
    destinationUrlId: order.destinationId,
    senderId: order.senderId,
    eventType: order.eventType,
    tag: order.tag,
    ids: order.ids && [...order.ids],
    status: [...order.statuses],
    from: order.from,
    to: order.to,
    toDestinationUrlId: order.toDestinationId,
    perSecond: order.perSecond,
    actor: { ...actor },
    startedAt,
    finishedAt,
  };
}

function statusOf({ active }: { readonly active: boolean }): "Active" | "Inactive" {
  return active ? "Active" : "Inactive";
}
