import { readFileSync } from "node:fs";
import type { ApiKeyEvent } from "../../domain/api-key/events.ts";
import type { CancellationsEvent } from "../../domain/cancellations/cancellations.ts";
import type { CircuitEvent } from "../../domain/circuit/circuit.ts";
import type { DestinationEvent } from "../../domain/destination/events.ts";
import type { WebhookEvent } from "../../domain/event/events.ts";
import type { Purge } from "../../domain/event/purge.ts";
import type { InviteEvent } from "../../domain/invite/events.ts";
import type { PersonEvent } from "../../domain/person/person.ts";
import type { PlatformEvent } from "../../domain/platform/platform.ts";
import type { PurgesEvent } from "../../domain/purges/purges.ts";
import type { ReplayJobEvent } from "../../domain/replay-job/replay-job.ts";
import type { ReplaysEvent } from "../../domain/replays/replays.ts";
import type { ReservationEvent } from "../../domain/reservation/reservation.ts";
import type { SenderEvent } from "../../domain/sender/events.ts";
import type { ServiceAccountEvent } from "../../domain/service-account/events.ts";
import type { SessionEvent } from "../../domain/session/session.ts";
import type { TenantEvent } from "../../domain/tenant/events.ts";

/** Every fact of the domain. */
export type AnyEvent =
  | ApiKeyEvent
  | CancellationsEvent
  | CircuitEvent
  | DestinationEvent
  | InviteEvent
  | PersonEvent
  | PlatformEvent
  | PurgesEvent
  | ReplayJobEvent
  | ReplaysEvent
  | ReservationEvent
  | SenderEvent
  | ServiceAccountEvent
  | SessionEvent
  | TenantEvent
  | WebhookEvent;

/** Turns the data of one version into that of the next; may rely on the schema of its version. */
export type Upcaster = (data: Readonly<Record<string, unknown>>) => object;

/** The types of facts that the codec reads and writes. */
export interface Catalogue {
  /** The version each type is written under. */
  readonly versions: Readonly<Record<string, number>>;
  /** By type, then by the version that is read. */
  readonly upcasters: Readonly<Record<string, Readonly<Record<number, Upcaster>>>>;
  /** The JSON Schema of a name such as `EventAccepted.v1`, or of `metadata`. */
  readonly schema: (name: string) => object;
}

/** A changed shape raises the version here, adds `schemas/events/<type>.v<n>.json` and an example, and an upcaster. */
const versions = {
  ApiKeyIssued: 1,
  ApiKeyRevoked: 1,
  ApiKeyUsed: 1,
  CancellationCompleted: 1,
  CancellationOrdered: 1,
  CircuitClosed: 2,
  CircuitCounted: 2,
  CircuitHalfOpened: 2,
  CircuitOpened: 2,
  CircuitProbeClaimed: 2,
  CircuitProbeReleased: 2,
  DeliveryAttemptStarted: 1,
  DeliveryExhausted: 1,
  DeliveryFailed: 2,
  DeliverySucceeded: 1,
  DestinationActivated: 1,
  DestinationAuthConfigured: 1,
  DestinationAuthRemoved: 1,
  DestinationDeactivated: 1,
  DestinationDeleted: 1,
  DestinationRateLimitChanged: 1,
  DestinationRegistered: 1,
  DestinationUrlChanged: 1,
  EventAccepted: 2,
  EventCancelled: 1,
  EventReplayed: 2,
  EventsPurged: 3,
  IngestTokenRegenerated: 1,
  InviteAccepted: 1,
  InviteCreated: 1,
  InviteForgotten: 1,
  InviteRevoked: 1,
  NameReleased: 1,
  NameReserved: 1,
  PersonKeyCreated: 1,
  PlatformKeysCreated: 1,
  PlatformKeysRewrapped: 1,
  PurgeCompleted: 3,
  ReplayCompleted: 1,
  ReplayJobCancelled: 1,
  ReplayJobFinished: 1,
  ReplayJobOrdered: 1,
  ReplayJobProgressed: 1,
  ReplayOrdered: 1,
  ReservationRefused: 1,
  RetryBroughtForward: 1,
  RetryScheduled: 1,
  SenderActivated: 1,
  SenderCreated: 1,
  SenderDeactivated: 1,
  SenderDeleted: 1,
  SenderDestinationChanged: 1,
  SenderIngestTokenRegenerated: 1,
  SenderMappingChanged: 1,
  SenderRenamed: 1,
  SenderSearchFieldsChanged: 1,
  ServiceAccountActivated: 1,
  ServiceAccountCreated: 1,
  ServiceAccountDeactivated: 1,
  ServiceAccountDeleted: 1,
  ServiceAccountRenamed: 1,
  ServiceAccountRoleChanged: 1,
  ServiceKeyIssued: 1,
  ServiceKeyRevoked: 1,
  SessionRevoked: 1,
  TenantCreated: 1,
  TenantDataKeyRewrapped: 1,
  TenantDeliveryPolicyChanged: 1,
  TenantErased: 1,
  TenantRenamed: 1,
  TenantRetentionChanged: 1,
  UserCreated: 1,
  UserDeleted: 1,
  UserEmailChanged: 1,
  UserForgotten: 1,
  UserPasswordChanged: 1,
  UserRoleChanged: 1,
  UserStatusChanged: 1,
  WebhookSecretRegenerated: 1,
} as const satisfies Record<AnyEvent["type"], number>;

/** Purges of an older version, each of which took the events that had finished by its own place in the log. */
function upToTheirPlaces(purges: unknown): object[] {
  return (purges as readonly Purge[]).map((purge) => ({ ...purge, upTo: purge.position }));
}

/** Adds a null `eventId` to facts of circuits, whose first version lacks it. */
function withoutEvent(data: Readonly<Record<string, unknown>>): object {
  return { ...data, eventId: null };
}

const schemaFolder = new URL("../../../schemas/events/", import.meta.url);

/** The domain's own facts. */
export const catalogue = {
  versions,
  upcasters: {
    CircuitClosed: { 1: withoutEvent },
    CircuitCounted: { 1: withoutEvent },
    CircuitHalfOpened: { 1: withoutEvent },
    CircuitOpened: { 1: withoutEvent },
    CircuitProbeClaimed: { 1: withoutEvent },
    CircuitProbeReleased: { 1: withoutEvent },
    DeliveryFailed: {
      1: (data) => (data["reason"] === "outcome unknown" ? { ...data, durationMs: null, requestHeaders: null } : data),
    },
    EventAccepted: { 1: (data) => ({ ...data, senderRevision: null }) },
    EventReplayed: { 1: (data) => ({ ...data, mode: "replay" }) },
    EventsPurged: {
      1: (data) => ({ ...data, earlier: [] }),
      2: (data) => ({ ...data, upTo: null, earlier: upToTheirPlaces(data["earlier"]) }),
    },
    PurgeCompleted: {
      1: (data) => ({ ...data, left: [] }),
      2: (data) => ({ ...data, left: upToTheirPlaces(data["left"]) }),
    },
  },
  schema: (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, schemaFolder), "utf8")) as object,
} as const satisfies Catalogue;
