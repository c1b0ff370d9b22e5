import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { orderingSchema, type Ordering } from "../../kernel/domain/ordering.ts";
import {
  anyText, described, httpsUrl, integer, nullable, number, object, oneOf, optional, sealed, text, texts, uuid, values,
  type ValueOf,
} from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { dayMs, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";
import type { Circuit, CircuitPosition } from "../circuits/facts.ts";
import {
  certificateFacts, clientCertificate, evolveCertificate, noCertificate, type OwnCertificate,
} from "./certificates/facts.ts";
import { circuitPolicy, retryPolicy, type CircuitPolicy, type DestinationRetryPolicy } from "./policy.ts";
import { evolveSigning, noOwnSigning, signingFacts, type OwnSigning } from "./signing/facts.ts";

/** How requests are authenticated: a header, a bearer token, an OAuth client-credentials token, or HTTP Basic. */
export const authTypes = ["ApiKey", "BearerToken", "JwtBearer", "BasicAuth"] as const;
/** One of {@link authTypes}; decides which fields the credentials have (delivery/requests/request). */
export type AuthType = (typeof authTypes)[number];

const auth = object({ type: oneOf(authTypes), credentials: sealed("Sealed under the tenant's data key.") });
/** Authentication of outbound requests, as facts have it. */
export type DestinationAuth = ValueOf<typeof auth>;

const ids = { destinationId: uuid(), tenantId: uuid(), at };
const told = ["destinationId", "tenantId", "at"] as const;

/** What becomes of posts while the circuit is open. */
const whenSuspendedValues = ["reject", "hold"] as const;
/** One of {@link whenSuspendedValues}. */
type WhenSuspended = (typeof whenSuspendedValues)[number];

const whenSuspended = oneOf(whenSuspendedValues, "Whether posts are refused or held while the circuit is open.");

const ratePerSecond = number(0.1, "The most attempts that begin in a second.");

/** The most that `timeoutMs` of a destination may be. */
export const longestTimeoutMs = createDestination.properties.timeoutMs.maximum;

const timeoutMs = integer(1, "How long an attempt may take at most, milliseconds.");
const name = text("What people call it.");
const description = anyText("What people note about it.");
const ownerId = text("The customer of the tenant that it belongs to.");
const metadata = texts("The tenant's own data about it.");
const descriptive = ["name", "description", "ownerId", "metadata"] as const;

const headers = values(sealed("Sealed under the tenant's data key."), "Headers of every attempt, by their names.");
const disableAfterDays = integer(1, "How long its attempts may only fail until it becomes Inactive.");
const expireAfterDays = integer(1, "How long its events wait at most, from their acceptance or last replay on.");

const policy = ["timeoutMs", "retryPolicy", "circuit", "expireAfterDays", "disableAfterDays"] as const;

export const destinationFacts = {
  DestinationRegistered: fact({
    data: {
      ...ids, url: httpsUrl,
      serverRateLimit: integer(1, "Concurrent requests at most."),
      auth: nullable(auth),
      ingestTokenHash: text("SHA-256 of the ingest token."),
      whenSuspended: optional(whenSuspended),
      ratePerSecond: optional(ratePerSecond),
      timeoutMs: optional(timeoutMs),
      retryPolicy: optional(retryPolicy),
      circuit: optional(circuitPolicy),
      name: optional(name), description: optional(description), ownerId: optional(ownerId),
      metadata: optional(metadata), headers: optional(headers),
      expireAfterDays: optional(expireAfterDays), disableAfterDays: optional(disableAfterDays),
      ordering: optional(described<Ordering>(orderingSchema, "The order of deliveries; missing where there is none.")),
      clientCertificate: optional(clientCertificate),
    },
    meaning: "The destination was registered.",
    words: [
      "created the destination: {url}, concurrent requests up to {serverRateLimit}, {authType} authentication",
      "created the destination: {url}, concurrent requests up to {serverRateLimit}, no authentication",
    ],
    shown: [
      ...told, "url", "serverRateLimit", "auth", "whenSuspended", "ratePerSecond", ...descriptive, "headers", ...policy,
      "ordering", "clientCertificate",
    ],
    audit: "destination",
    creates: true,
    sets: { status: "Active" },
  }),
  DestinationUrlChanged: fact({
    data: { ...ids, url: httpsUrl },
    meaning: "The URL changed.",
    words: "changed the URL to {url}",
    shown: [...told, "url"],
    changes: ["url"],
    audit: "destination",
    setting: "the destination's URL",
    example: {
      destinationId: examples.destinationId, tenantId: examples.tenantId, url: "https://receiver.example.com/hooks",
      at: examples.at,
    },
  }),
  DestinationRateLimitChanged: fact({
    data: { ...ids, serverRateLimit: integer(1) },
    meaning: "The limit of concurrent requests changed.",
    words: "set the limit of concurrent requests to {serverRateLimit}",
    shown: [...told, "serverRateLimit"],
    changes: ["serverRateLimit"],
    audit: "destination",
    setting: "the destination's limit of concurrent requests",
  }),
  DestinationDescribed: fact({
    data: {
      ...ids, name: nullable(name), description: nullable(description), ownerId: nullable(ownerId), metadata,
    },
    meaning: "The name, description, owner or metadata changed.",
    words: "changed the description of the destination",
    shown: [...told, ...descriptive],
    changes: descriptive,
    audit: "destination",
  }),
  DestinationHoldingChanged: fact({
    data: { ...ids, whenSuspended },
    meaning: "From now on posts are refused, or held, while the circuit is open.",
    words: "set what becomes of posts while suspended: {whenSuspended}",
    shown: [...told, "whenSuspended"],
    changes: ["whenSuspended"],
    audit: "destination",
  }),
  DestinationPaceChanged: fact({
    data: { ...ids, ratePerSecond: nullable(ratePerSecond) },
    meaning: "The most attempts that begin in a second changed; null: any number.",
    words: ["set the rate to {ratePerSecond} a second", "removed the limit of the rate"],
    shown: [...told, "ratePerSecond"],
    changes: ["ratePerSecond"],
    audit: "destination",
    setting: "the destination's rate",
  }),
  DestinationPolicyChanged: fact({
    data: {
      ...ids,
      timeoutMs: nullable(timeoutMs), retryPolicy: nullable(retryPolicy), circuit: nullable(circuitPolicy),
      expireAfterDays: nullable(expireAfterDays), disableAfterDays: nullable(disableAfterDays),
    },
    meaning: "The settings for attempts changed: all are given, null for those of the relay or the tenant.",
    words: "changed how it is tried",
    shown: [...told, ...policy],
    changes: policy,
    audit: "destination",
    setting: "how the destination is tried",
  }),
  DestinationOrderingChanged: fact({
    data: { ...ids, from: described<Ordering>(orderingSchema, "The order before."), ordering: orderingSchema },
    meaning: "The order of deliveries changed.",
    words: "changed the order of deliveries",
    shown: [...told, "from", "ordering"],
    changes: ["ordering"],
    audit: "destination",
    setting: "the destination's order of deliveries",
  }),
  DestinationActivated: fact({
    data: ids,
    meaning: "A person activated the destination. Held events resume.",
    words: "switched the destination on",
    shown: told,
    audit: "destination",
    setting: "the destination was switched on",
    sets: { status: "Active" },
  }),
  DestinationDeactivated: fact({
    data: {
      ...ids,
      reason: optional(oneOf(
        ["failing"], "Its attempts only failed for as long as it allows; missing where a person deactivated it.",
      )),
    },
    meaning: "A person, or the service by itself, deactivated the destination. Its events are held.",
    words: [
      "switched the destination off, since its attempts only failed for too long{reason:unsaid}",
      "switched the destination off",
    ],
    shown: [...told, "reason"],
    audit: "destination",
    setting: "the destination was switched off",
    sets: { status: "Inactive" },
  }),
  DestinationAuthConfigured: fact({
    data: { ...ids, auth },
    meaning: "The authentication changed.",
    words: "set {authType} authentication",
    shown: [...told, "auth"],
    changes: ["auth"],
    audit: "destination",
    setting: "the destination's authentication",
  }),
  DestinationAuthRemoved: fact({
    data: ids,
    meaning: "The authentication was removed.",
    words: "removed the authentication",
    shown: told,
    audit: "destination",
    setting: "the destination's authentication was removed",
    sets: { authType: null },
  }),
  DestinationHeadersConfigured: fact({
    data: { ...ids, headers },
    meaning: "The headers of every attempt changed, or some of their values.",
    words: "changed the headers",
    shown: [...told, "headers"],
    changes: ["headers"],
    audit: "destination",
    setting: "the destination's headers",
  }),
  IngestTokenRegenerated: fact({
    data: { ...ids, ingestTokenHash: text("SHA-256 of the ingest token."), previousTokenHash: text() },
    meaning: "The ingest token was replaced.",
    words: "replaced the ingest token",
    shown: told,
    audit: "destination",
    replaces: "ingestToken",
  }),
  ...certificateFacts,
  ...signingFacts,
  DestinationDeleted: fact({
    data: { ...ids, ingestTokenHash: text("SHA-256 of the ingest token.") },
    meaning: "The destination was deleted. Its waiting events become Cancelled.",
    words: "deleted the destination",
    shown: told,
    audit: "destination",
    setting: "the destination was deleted",
    sets: { status: "Deleted" },
  }),
};
export type DestinationEvent = EventsOf<typeof destinationFacts>;

/** The settings of a destination, each with a fact that changes it. */
export interface DestinationSettings {
  readonly url: string;
  readonly serverRateLimit: number;
  readonly whenSuspended: WhenSuspended;
  /** The most attempts that begin in a second; null: any number. */
  readonly ratePerSecond: number | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly ownerId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** By their names, the values sealed. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long an attempt may take at most, milliseconds; null: as long as the relay's setting says. */
  readonly timeoutMs: number | null;
  /** Null: the relay's schedule and the tenant's `maxTrys`. */
  readonly retryPolicy: DestinationRetryPolicy | null;
  /** Null: the tenant's settings of circuits. */
  readonly circuit: CircuitPolicy | null;
  /** Events that waited so long are cancelled; null: they wait on. */
  readonly expireAfterDays: number | null;
  /** It becomes Inactive once its attempts only failed for so long; null: it stays as it is. */
  readonly disableAfterDays: number | null;
  readonly ordering: Ordering;
}

/** The settings that a registration may lack, as they are without them. */
export const unset = {
  whenSuspended: "reject", ratePerSecond: null,
  name: null, description: null, ownerId: null, metadata: {}, headers: {},
  timeoutMs: null, retryPolicy: null, circuit: null, expireAfterDays: null, disableAfterDays: null,
  ordering: "none" as Ordering,
} satisfies Partial<DestinationSettings>;

/** A destination as folded from its own stream. Its circuit decides whether it is Suspended. */
export interface Destination extends DestinationSettings, OwnSigning, OwnCertificate {
  readonly id: string;
  readonly tenantId: string;
  readonly active: boolean;
  /** When it was registered, or activated last. */
  readonly activeSince: Timestamp;
  readonly deleted: boolean;
  readonly auth: DestinationAuth | null;
  readonly ingestTokenHash: string;
  /** When the ordering was set last. */
  readonly orderedSince: Timestamp;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Undefined before it was registered; a deleted one stays, marked, and is never brought back. */
export type DestinationState = Destination | undefined;

/** Folds one fact in. */
export function evolve(state: DestinationState, event: DestinationEvent): DestinationState {
  if (event.type === "DestinationRegistered") {
    const { destinationId, at, ...settings } = event.data;
    const times = { orderedSince: at, activeSince: at, createdAt: at, updatedAt: at };
    const defaults = { ...unset, ...noOwnSigning, ...noCertificate };
    return { ...defaults, ...settings, id: destinationId, active: true, deleted: false, ...times };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "DestinationUrlChanged":
    case "DestinationRateLimitChanged":
    case "DestinationHoldingChanged":
    case "DestinationPaceChanged":
    case "DestinationPolicyChanged":
    case "DestinationDescribed":
    case "DestinationHeadersConfigured":
    case "DestinationAuthConfigured":
      return { ...withChanges(destinationFacts, state, event), updatedAt };
    case "DestinationOrderingChanged":
      return { ...withChanges(destinationFacts, state, event), orderedSince: updatedAt, updatedAt };
    case "DestinationActivated":
      return { ...state, active: true, activeSince: updatedAt, updatedAt };
    case "DestinationDeactivated":
      return { ...state, active: false, updatedAt };
    case "DestinationAuthRemoved":
      return { ...state, auth: null, updatedAt };
    case "IngestTokenRegenerated":
      return { ...state, ingestTokenHash: event.data.ingestTokenHash, updatedAt };
    case "DestinationCertificateConfigured":
    case "DestinationCertificateRemoved":
    case "DestinationCertificateExpiring":
      return evolveCertificate(state, event);
    case "DestinationDeleted":
      return { ...state, deleted: true, updatedAt };
    default:
      return evolveSigning(state, event);
  }
}

export const destinations: AggregateType<Destination, DestinationEvent> = {
  category: "destination",
  stream: streams.destination,
  evolve,
};

/** The time whose events have waited as long as a destination allows; null where they may wait on. */
export function expiredBefore(
  { expireAfterDays }: { readonly expireAfterDays: number | null }, now: number,
): Timestamp | null {
  return expireAfterDays === null ? null : timestamp(now - expireAfterDays * dayMs);
}

/** The status shown for a destination: its own setting, combined with its circuit. */
export type DestinationStatus = "Active" | "Inactive" | "Suspended";

/** Whether a destination takes events. */
export interface Availability {
  readonly status: DestinationStatus;
  /** The earliest time at which it is tried again, past while that is going on; null unless it is Suspended. */
  readonly suspendedUntil: string | null;
}

/** The status to show: Inactive, as a person set it, takes precedence over the circuit. */
export function destinationStatus(
  { active, circuit }: { readonly active: boolean; readonly circuit: CircuitPosition },
): DestinationStatus {
  if (!active) return "Inactive";
  return circuit === "Open" ? "Suspended" : "Active";
}

/** The availability of a destination with these settings. `openUntil`: until when its circuit is open, or null. */
export function availability(
  shown: { readonly active: boolean; readonly circuit: CircuitPosition; readonly openUntil: string | null },
): Availability {
  const status = destinationStatus(shown);
  return { status, suspendedUntil: status === "Suspended" ? shown.openUntil : null };
}

/** The availability of a folded destination. Its circuit is undefined before the first failed attempt. */
export function availabilityOf({ active }: Destination, circuit: Circuit | undefined): Availability {
  return availability({ active, circuit: circuit?.position ?? "Closed", openUntil: circuit?.openUntil ?? null });
}

/** Headers that credentials may not set (lower case): HTTP's own framing, and the headers that this service sends. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
  "trailer", "transfer-encoding", "upgrade",
  "content-encoding", "content-type", "user-agent", "x-relay-attempt", "x-relay-test",
  "x-service-signature", "webhook-id", "webhook-timestamp", "webhook-signature",
]);

/** Whether credentials may set this header (any case). */
export function isSettableHeader(name: string): boolean {
  return !reservedHeaders.has(name.toLowerCase());
}
