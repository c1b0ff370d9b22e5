import type { ApiKeyEvent } from "./api-key/events.ts";
import type { CancellationsEvent } from "./cancellations/cancellations.ts";
import type { CircuitEvent } from "./circuit/circuit.ts";
import type { DestinationAuth, DestinationEvent } from "./destination/events.ts";
import type { Actor, DataOf, DomainEvent, Metadata } from "./domain-event.ts";
import type { WebhookEvent } from "./event/events.ts";
import type { InviteEvent } from "./invite/events.ts";
import type { PurgesEvent } from "./purges/purges.ts";
import type { ReplayJobEvent } from "./replay-job/replay-job.ts";
import type { ReplaysEvent } from "./replays/replays.ts";
import type { SenderEvent } from "./sender/events.ts";
import type { ServiceAccountEvent } from "./service-account/events.ts";
import type { TenantEvent } from "./tenant/events.ts";

/** By type of fact, the fields of its data that are shown: all, or those that are named. */
type Shown<Event extends DomainEvent> = {
  readonly [Type in Event["type"]]: "all" | readonly (keyof DataOf<Event, Type>)[];
};

/** An erased tenant's history is gone: nobody is shown that last fact. */
type TenantHistoryEvent = Exclude<TenantEvent, { type: "TenantErased" }>;

const tenant = ["tenantId", "at"] as const;
const user = ["tenantId", "userId", "at"] as const;
const apiKey = ["keyId", "tenantId", "at"] as const;
const serviceAccount = ["serviceAccountId", "tenantId", "at"] as const;
const invite = ["inviteId", "tenantId", "at"] as const;
const destination = ["destinationId", "tenantId", "at"] as const;
const sender = ["senderId", "tenantId", "at"] as const;

/**
 * The facts of every history, and their shown fields: fields not named here, new ones too, are hidden. Hidden are
 * sealed secrets, credentials and addresses, wrapped keys, all hashes, the other purges that a purge's facts repeat,
 * the place in the log up to which a purge or a replay counted, and which events a replay takes next.
 */
export const histories = {
  tenant: {
    TenantCreated: [...tenant, "name", "maxTrys", "circuitBreakerTimer", "webhookSecretFingerprint"],
    TenantRenamed: [...tenant, "name"],
    TenantDeliveryPolicyChanged: [...tenant, "maxTrys", "circuitBreakerTimer"],
    TenantRetentionChanged: [...tenant, "retentionDays"],
    WebhookSecretRegenerated: [...tenant, "webhookSecretFingerprint"],
    TenantDataKeyRewrapped: tenant,
    UserCreated: [...user, "role"],
    UserEmailChanged: user,
    UserPasswordChanged: user,
    UserRoleChanged: [...user, "from", "role", "status"],
    UserStatusChanged: [...user, "from", "status", "role"],
    UserDeleted: [...user, "role", "status"],
    UserForgotten: user,
    ReservationRefused: ["at"],
  } satisfies Shown<TenantHistoryEvent>,
  purges: {
    EventsPurged: [...tenant, "purgeId", "before", "status", "destinationId", "matched"],
    PurgeCompleted: [...tenant, "purgeId"],
  } satisfies Shown<PurgesEvent>,
  replays: {
    ReplayOrdered: [...tenant, "replayId", "destinationId", "from", "to", "matched"],
    ReplayCompleted: [...tenant, "replayId", "replayed"],
  } satisfies Shown<ReplaysEvent>,
  replayJob: {
    ReplayJobOrdered: [
      ...tenant, "replayId", "destinationId", "senderId", "eventType", "tag", "ids", "statuses", "from", "to",
      "toDestinationId", "perSecond", "matched",
    ],
    ReplayJobProgressed: [...tenant, "replayId", "done", "skipped"],
    ReplayJobCancelled: [...tenant, "replayId", "done", "skipped"],
    ReplayJobFinished: [...tenant, "replayId", "done", "skipped", "cancelledAt"],
  } satisfies Shown<ReplayJobEvent>,
  cancellations: {
    CancellationOrdered: [
      ...tenant, "cancellationId", "destinationId", "senderId", "eventType", "tag", "statuses", "from", "to", "ids",
      "matched",
    ],
    CancellationCompleted: [...tenant, "cancellationId", "cancelled"],
  } satisfies Shown<CancellationsEvent>,
  apiKey: {
    ApiKeyIssued: [...apiKey, "name", "prefix", "last4", "expiresAt"],
    ApiKeyUsed: [...apiKey, "usedAt"],
    ApiKeyRevoked: apiKey,
  } satisfies Shown<ApiKeyEvent>,
  serviceAccount: {
    ServiceAccountCreated: [...serviceAccount, "name", "role"],
    ServiceAccountRenamed: [...serviceAccount, "name"],
    ServiceAccountRoleChanged: [...serviceAccount, "from", "role"],
    ServiceAccountActivated: serviceAccount,
    ServiceAccountDeactivated: serviceAccount,
    ServiceAccountDeleted: serviceAccount,
    ServiceKeyIssued: [...serviceAccount, "keyId", "name", "prefix", "last4", "scopes", "expiresAt"],
    ServiceKeyRevoked: [...serviceAccount, "keyId"],
  } satisfies Shown<ServiceAccountEvent>,
  invite: {
    InviteCreated: [...invite, "role", "expiresAt"],
    InviteAccepted: invite,
    InviteRevoked: invite,
    InviteForgotten: invite,
  } satisfies Shown<InviteEvent>,
  destination: {
    DestinationRegistered: [...destination, "url", "serverRateLimit", "auth"],
    DestinationUrlChanged: [...destination, "url"],
    DestinationRateLimitChanged: [...destination, "serverRateLimit"],
    DestinationActivated: destination,
    DestinationDeactivated: destination,
    DestinationAuthConfigured: [...destination, "auth"],
    DestinationAuthRemoved: destination,
    IngestTokenRegenerated: destination,
    DestinationDeleted: destination,
  } satisfies Shown<DestinationEvent>,
  circuit: {
    CircuitCounted: "all",
    CircuitOpened: "all",
    CircuitHalfOpened: "all",
    CircuitProbeClaimed: "all",
    CircuitProbeReleased: "all",
    CircuitClosed: "all",
  } satisfies Shown<CircuitEvent>,
  sender: {
    SenderCreated: [...sender, "name", "destinationId", "mapping", "searchFields"],
    SenderRenamed: [...sender, "name"],
    SenderDestinationChanged: [...sender, "destinationId"],
    SenderMappingChanged: [...sender, "mapping"],
    SenderSearchFieldsChanged: [...sender, "searchFields"],
    SenderActivated: sender,
    SenderDeactivated: sender,
    SenderIngestTokenRegenerated: sender,
    SenderDeleted: sender,
  } satisfies Shown<SenderEvent>,
  event: {
    EventAccepted: "all",
    DeliveryAttemptStarted: "all",
    DeliverySucceeded: "all",
    DeliveryFailed: "all",
    RetryScheduled: "all",
    RetryBroughtForward: "all",
    DeliveryExhausted: "all",
    EventReplayed: "all",
    EventCancelled: "all",
  } satisfies Shown<WebhookEvent>,
} as const;

const shownByType = new Map<string, "all" | readonly string[]>(
  Object.values(histories).flatMap((types) => Object.entries(types)),
);

/** The shown fields of a fact's data: none if no history has the fact; of authentication only the kind. */
export function shownData({ type, data }: DomainEvent): object {
  const shown = shownByType.get(type) ?? [];
  if (shown === "all") return data;
  const { auth, ...fields } = Object.fromEntries(Object.entries(data).filter(([name]) => shown.includes(name)));
  return auth === undefined ? fields : { ...fields, authType: (auth as DestinationAuth | null)?.type ?? null };
}

/** A fact of a history. */
export interface HistoryItem {
  readonly type: string;
  readonly revision: number;
  readonly position: string;
  readonly time: string;
  readonly actor: Actor;
  /** The id of the request that wrote it; of an attempt, that of the request by which the event was accepted. */
  readonly correlationId: string;
  readonly data: object;
}

/** A fact as the API shows it, from its entry in the log. */
export function historyItem(
  fact: DomainEvent & { readonly revision: number; readonly position: string; readonly metadata: Metadata },
): HistoryItem {
  const { type, revision, position, metadata: { actor, correlationId, at: time } } = fact;
  return { type, revision, position, time, actor, correlationId, data: shownData(fact) };
}
