import type { Schemas } from "../../../client/src/index.ts";

/** An entry of a history or of the audit. */
export type Fact = Schemas["HistoryItem"] | Schemas["AuditItem"];

type KnownFact = Exclude<Fact, Schemas["OtherFact"]>;
type WordsByType = { readonly [Known in KnownFact as Known["type"]]: (data: Known["data"]) => string };

const circuitPosition = { Closed: "closed", Open: "open", HalfOpen: "half-open" };
const auth = (kind: string | null) => kind === null ? "no authentication" : `${kind} authentication`;
const until = (expiresAt: string | null) => expiresAt === null ? "without an end" : `until ${expiresAt}`;
const events = (count: number) => `${count} ${count === 1 ? "event" : "events"}`;
const keyName = ({ name, prefix, last4 }: { readonly name: string; readonly prefix: string; readonly last4: string }) =>
  `“${name}” (${prefix}…${last4})`;

/** What each fact says after its actor: `changed the URL to …`. */
const words: WordsByType = {
  TenantCreated: ({ name }) => `created the tenant “${name}”`,
  TenantRenamed: ({ name }) => `renamed the tenant to “${name}”`,
  TenantDeliveryPolicyChanged: ({ maxTrys, circuitBreakerTimer }) =>
    `set ${maxTrys} tries, and ${circuitBreakerTimer} s before an open circuit is tried`,
  TenantRetentionChanged: ({ retentionDays }) =>
    retentionDays === null ? "lets finished events stay for good" : `lets finished events stay ${retentionDays} days`,
  WebhookSecretRegenerated: () => "replaced the webhook secret",
  TenantDataKeyRewrapped: () => "wrapped the tenant's data key with another master key",
  UserCreated: ({ role }) => `created a user with the role ${role}`,
  UserEmailChanged: () => "changed the email of a user",
  UserPasswordChanged: () => "changed the password of a user",
  UserRoleChanged: ({ from, role }) => `changed the role of a user from ${from} to ${role}`,
  UserStatusChanged: ({ from, status }) => `changed the status of a user from ${from} to ${status}`,
  UserDeleted: () => "deleted a user",
  UserForgotten: () => "destroyed the key to a deleted user's email",
  ReservationRefused: () => "released a reserved name or email",
  EventsPurged: ({ matched }) => `ordered a purge of ${events(matched)}`,
  PurgeCompleted: () => "completed a purge",
  ReplayOrdered: ({ matched }) => `ordered a replay of ${events(matched)}`,
  ReplayCompleted: ({ replayed }) => `completed a replay of ${events(replayed)}`,
  ReplayJobOrdered: ({ matched }) => `ordered a replay of ${events(matched)}`,
  ReplayJobProgressed: ({ done, skipped }) => `has replayed ${events(done)}, ${skipped} skipped`,
  ReplayJobCancelled: ({ done, skipped }) => `cancelled a replay after ${events(done)}, ${skipped} skipped`,
  ReplayJobFinished: ({ done, skipped }) => `finished a replay of ${events(done)}, ${skipped} skipped`,
  CancellationOrdered: ({ matched }) => `ordered to cancel ${events(matched)}`,
  CancellationCompleted: ({ cancelled }) => `cancelled ${events(cancelled)}`,
  ApiKeyIssued: (key) => `created the API key ${keyName(key)}, ${until(key.expiresAt)}`,
  ApiKeyUsed: ({ usedAt }) => `noted that the API key was last used at ${usedAt}`,
  ApiKeyRevoked: () => "deleted the API key",
  ServiceAccountCreated: ({ name, role }) => `created the service account “${name}” with the role ${role}`,
  ServiceAccountRenamed: ({ name }) => `renamed the service account to “${name}”`,
  ServiceAccountRoleChanged: ({ from, role }) => `changed the service account's role from ${from} to ${role}`,
  ServiceAccountActivated: () => "activated the service account",
  ServiceAccountDeactivated: () => "deactivated the service account",
  ServiceAccountDeleted: () => "deleted the service account",
  ServiceKeyIssued: (key) => `created the service key ${keyName(key)}, ${until(key.expiresAt)}`,
  ServiceKeyRevoked: () => "deleted a service key",
  InviteCreated: ({ role, expiresAt }) => `invited a person as ${role}, ${until(expiresAt)}`,
  InviteAccepted: () => "accepted the invite",
  InviteRevoked: () => "revoked the invite",
  InviteForgotten: () => "destroyed the key to the email of an invite",
  DestinationRegistered: ({ url, serverRateLimit, authType }) =>
    `created the destination: ${url}, ${serverRateLimit} at once, ${auth(authType)}`,
  DestinationUrlChanged: ({ url }) => `changed the URL to ${url}`,
  DestinationRateLimitChanged: ({ serverRateLimit }) => `set the most requests at once to ${serverRateLimit}`,
  DestinationActivated: () => "switched the destination on",
  DestinationDeactivated: () => "switched the destination off",
  DestinationAuthConfigured: ({ authType }) => `set ${auth(authType)}`,
  DestinationAuthRemoved: () => "removed the authentication",
  IngestTokenRegenerated: () => "replaced the ingest token",
  DestinationDeleted: () => "deleted the destination",
  CircuitCounted: ({ failures, pausedUntil }) => [
    failures === 0 && pausedUntil !== undefined ? [] : `counts ${inARow(failures)}`,
    pausedUntil === undefined ? [] : `pauses until ${pausedUntil}, as the receiver asked`,
  ].flat().join(", and "),
  CircuitOpened: ({ failures, openUntil }) =>
    `opened the circuit after ${inARow(failures)}${openUntil === null ? "" : `, until ${openUntil}`}`,
  CircuitHalfOpened: () => "half-opened the circuit: the next event is the probe",
  CircuitProbeClaimed: () => "sends an event as the probe of the circuit",
  CircuitProbeReleased: ({ position }) =>
    `ended a probe that does not count: the circuit stays ${circuitPosition[position]}`,
  CircuitClosed: () => "closed the circuit: deliveries resume",
  SenderCreated: ({ name }) => `created the sender “${name}”`,
  SenderRenamed: ({ name }) => `renamed the sender to “${name}”`,
  SenderDestinationChanged: ({ destinationId }) => `pointed the sender to the destination ${destinationId}`,
  SenderMappingChanged: ({ mapping }) => mapping === null ? "removed the mapping" : "changed the mapping",
  SenderSearchFieldsChanged: () => "changed the search fields",
  SenderActivated: () => "switched the sender on",
  SenderDeactivated: () => "switched the sender off",
  SenderIngestTokenRegenerated: () => "replaced the sender's ingest token",
  SenderDeleted: () => "deleted the sender",
  EventAccepted: () => "posted the event",
  DeliveryAttemptStarted: ({ attempt }) => `began attempt ${attempt}`,
  DeliverySucceeded: ({ attempt }) => `delivered the event by attempt ${attempt}`,
  DeliveryFailed: ({ attempt }) => `failed in attempt ${attempt}`,
  RetryScheduled: ({ nextAttemptAt }) => `planned the next attempt for ${nextAttemptAt}`,
  RetryBroughtForward: () => "ordered the planned retry now",
  DeliveryExhausted: () => "gave the event up",
  EventReplayed: () => "ordered the event to be sent again",
  EventCancelled: () => "cancelled the event",
};

function inARow(failures: number): string {
  if (failures === 0) return "no failed attempt any longer";
  return failures === 1 ? "1 failed attempt" : `${failures} failed attempts in a row`;
}

/** What a fact says, as a sentence without its actor; of a type that is newer than these pages, the type. */
export function factWords({ type, data }: Pick<Fact, "type" | "data">): string {
  const say = (words as Readonly<Record<string, ((data: Fact["data"]) => string) | undefined>>)[type];
  return say ? say(data) : `wrote ${type}`;
}
