import type { Caller } from "../../kernel/callers/caller.ts";
import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, internalFact, type EventsOf } from "../../kernel/domain/fact.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { roles, type Role } from "../../kernel/domain/roles.ts";
import { integer, list, nullable, oneOf, sealed, text, uuid } from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import {
  noPrevious, previousSecrets, stillSigning, type PreviousSecret, type SealedSecret,
} from "../../kernel/domain/signing-secrets.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType, Aggregates } from "../../kernel/log/aggregates.ts";

const userStatuses = ["Active", "Inactive"] as const;
/** As an Admin or Owner sets it: an Inactive user cannot log in, and the user's sessions end. */
export type UserStatus = (typeof userStatuses)[number];
/** Statuses of users by the numbers that stand for them in requests. */
export const statusesByCode = { 0: "Active", 1: "Inactive" } as const satisfies Record<number, UserStatus>;
/** One of the codes in {@link statusesByCode}. */
export type UserStatusCode = keyof typeof statusesByCode;

const ofTenant = ["tenantId", "at"] as const;
const ofUser = ["tenantId", "userId", "at"] as const;

/** Facts of a `tenant-<id>` stream, which its users share: "the last active Owner stays" is a rule over one stream. */
export const tenantFacts = {
  TenantCreated: fact({
    data: {
      tenantId: uuid(), name: text(),
      nameHash: text("Keyed hash of the comparable name; names its reservation."),
      maxTrys: integer(1), circuitBreakerTimer: integer(1, "Seconds."),
      dataKey: sealed("The tenant's data key, wrapped by the master key."),
      webhookSecret: sealed("Sealed under the tenant's data key."),
      webhookSecretFingerprint: text(), at,
    },
    meaning: "The tenant was created.",
    words: "created the tenant “{name}”",
    shown: [...ofTenant, "name", "maxTrys", "circuitBreakerTimer", "webhookSecretFingerprint"],
    audit: "tenant",
    creates: true,
  }),
  TenantRenamed: fact({
    data: { tenantId: uuid(), name: text(), nameHash: text(), at },
    meaning: "The tenant was renamed.",
    words: "renamed the tenant to “{name}”",
    shown: [...ofTenant, "name"],
    changes: ["name", "nameHash"],
    audit: "tenant",
  }),
  TenantDeliveryPolicyChanged: fact({
    data: { tenantId: uuid(), maxTrys: integer(1), circuitBreakerTimer: integer(1, "Seconds."), at },
    meaning: "The settings for retries and the circuit breaker changed. Both are given.",
    words: "set {maxTrys} tries, and {circuitBreakerTimer} s before an open circuit is tried",
    shown: [...ofTenant, "maxTrys", "circuitBreakerTimer"],
    changes: ["maxTrys", "circuitBreakerTimer"],
    audit: "tenant",
    setting: "the tenant's tries or circuit timer",
  }),
  TenantRetentionChanged: fact({
    data: { tenantId: uuid(), retentionDays: nullable(integer(1), "null: until somebody purges them."), at },
    meaning: "The retention of finished events changed.",
    words: ["lets finished events stay {retentionDays} days", "lets finished events stay for good"],
    shown: [...ofTenant, "retentionDays"],
    changes: ["retentionDays"],
    audit: "tenant",
  }),
  WebhookSecretRegenerated: fact({
    data: {
      tenantId: uuid(),
      webhookSecret: sealed("Sealed under the tenant's data key."),
      webhookSecretFingerprint: text(), at, previous: previousSecrets,
    },
    meaning: "The webhook secret was replaced. Later deliveries are signed with the new one.",
    words: ["replaced the webhook secret; older ones sign for a time{previous:unsaid}", "replaced the webhook secret"],
    shown: [...ofTenant, "webhookSecretFingerprint", "previous"],
    changes: ["webhookSecretFingerprint"],
    audit: "tenant",
    setting: "the tenant's webhook secret was replaced",
    replaces: "webhookSecret",
  }),
  WebhookSecretsExpired: fact({
    data: {
      tenantId: uuid(), fingerprints: list(text(), "The fingerprints of the secrets that ended.", 1), at,
      previous: previousSecrets,
    },
    meaning: "Older webhook secrets ended. They sign no more, whatever the clock says later.",
    words: "ended older webhook secrets",
    shown: [...ofTenant, "fingerprints", "previous"],
    audit: "tenant",
    setting: "older webhook secrets of the tenant ended",
  }),
  TenantDataKeyRewrapped: fact({
    data: { tenantId: uuid(), dataKey: sealed("The tenant's data key, wrapped by the master key."), at },
    meaning: "The operator replaced the master key. The tenant's data key is the same.",
    words: "wrapped the tenant's data key with another master key",
    shown: ofTenant,
    audit: false,
  }),
  UserCreated: fact({
    data: {
      tenantId: uuid(), userId: uuid(),
      email: sealed("Sealed under the person's key."),
      emailHash: text("Keyed hash of the comparable address; names its reservation."),
      passwordHash: text("bcrypt."), role: oneOf(roles), at,
    },
    meaning: "A user was created.",
    words: "created a user with the role {role}",
    shown: [...ofUser, "role"],
    audit: "user",
    creates: true,
    sets: { status: "Active" },
  }),
  UserEmailChanged: fact({
    data: {
      tenantId: uuid(), userId: uuid(),
      email: sealed("Sealed under the person's key."),
      emailHash: text("Keyed hash of the comparable address; names its reservation."),
      at,
    },
    meaning: "A user's email changed.",
    words: "changed the email of a user",
    shown: ofUser,
    audit: "user",
    replaces: "email",
  }),
  UserPasswordChanged: fact({
    data: { tenantId: uuid(), userId: uuid(), passwordHash: text("bcrypt."), at },
    meaning: "A user's password changed. The user's sessions ended.",
    words: "changed the password of a user",
    shown: ofUser,
    audit: "user",
    replaces: "password",
  }),
  UserRoleChanged: fact({
    data: { tenantId: uuid(), userId: uuid(), from: oneOf(roles), role: oneOf(roles), status: oneOf(userStatuses), at },
    meaning: "A user's role changed. The user's sessions ended.",
    words: "changed the role of a user from {from} to {role}",
    shown: [...ofUser, "from", "role", "status"],
    changes: ["role"],
    audit: "user",
    example: {
      tenantId: examples.tenantId, userId: examples.developerId, from: "Developer", role: "Admin", status: "Active",
      at: examples.at,
    },
  }),
  UserStatusChanged: fact({
    data: {
      tenantId: uuid(), userId: uuid(), from: oneOf(userStatuses), status: oneOf(userStatuses), role: oneOf(roles), at,
    },
    meaning: "A user was activated or deactivated. The user's sessions ended.",
    words: "changed the status of a user from {from} to {status}",
    shown: [...ofUser, "from", "status", "role"],
    changes: ["status"],
    audit: "user",
  }),
  UserDeleted: fact({
    data: { tenantId: uuid(), userId: uuid(), role: oneOf(roles), status: oneOf(userStatuses), at },
    meaning: "A user was deleted.",
    words: "deleted a user",
    shown: [...ofUser, "role", "status"],
    audit: "user",
    sets: { status: "Deleted" },
  }),
  UserForgotten: fact({
    data: { tenantId: uuid(), userId: uuid(), at },
    meaning: "The key to a deleted user's email was destroyed.",
    words: "destroyed the key to a deleted user's email",
    shown: ofUser,
    audit: "user",
  }),
  // A stale reservation (`<stream>@<revision>`) was taken over: a command that still relies on it must lose.
  ReservationRefused: fact({
    data: { reservation: text(), at },
    meaning: "A name or email that an unfinished request had reserved was released.",
    words: "released a reserved name or email",
    shown: ["at"],
    audit: false,
  }),
  TenantErased: internalFact({
    data: { tenantId: uuid(), at },
    meaning: "The tenant is gone with all that was its own; nothing else of it stays.",
  }),
};
export type TenantEvent = EventsOf<typeof tenantFacts>;

/** A tenant's user, as folded from the tenant's stream; deleted ones are not there. */
export interface User {
  readonly id: string;
  /** Sealed under the person's own key: unreadable once that is deleted. */
  readonly email: string;
  /** Keyed hash of the comparable email; names its reservation. */
  readonly emailHash: string;
  readonly passwordHash: string;
  readonly role: Role;
  readonly status: UserStatus;
  /** Raised by every change that must end the user's sessions; tokens carry the one they were made under. */
  readonly sessionVersion: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** The settings of a tenant, each with a fact that changes it. */
export interface TenantSettings {
  readonly name: string;
  /** Keyed hash of the comparable name; names its reservation. */
  readonly nameHash: string;
  /** Failed attempts after which an event is given up, and in a row after which a circuit opens. */
  readonly maxTrys: number;
  /** How long an open circuit stays so before a probe, seconds. */
  readonly circuitBreakerTimer: number;
  /** Finished events older than this many days are purged; null: never. */
  readonly retentionDays: number | null;
}

/** An account with its settings and its users, as folded from its own stream; secrets in it are sealed. */
export interface Tenant extends TenantSettings {
  readonly id: string;
  /** The key that seals the tenant's secrets, wrapped by a master key. */
  readonly dataKey: string;
  /** Sealed under the data key; signs deliveries. */
  readonly webhookSecret: string;
  /** 16 hex digits of its SHA-256: tells secrets apart and reveals none. */
  readonly webhookSecretFingerprint: string;
  /** Older secrets that sign until their ends, too, the newest first. */
  readonly previousSecrets: readonly PreviousSecret[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly users: ReadonlyMap<string, User>;
  /** Reservations taken from this tenant as stale; a command that still relies on one must lose. */
  readonly refused: ReadonlySet<string>;
}

/** Undefined before the tenant was created, and after it was erased. */
export type TenantState = Tenant | undefined;

/** Folds one fact in. Consumes the state it is given: its set of users is carried on, not copied. */
export function evolve(state: TenantState, event: TenantEvent): TenantState {
  if (event.type === "TenantCreated") {
    const { tenantId, at, ...settings } = event.data;
    return {
      ...settings, id: tenantId, createdAt: at, updatedAt: at, retentionDays: null,
      previousSecrets: noPrevious, users: new Map(), refused: new Set(),
    };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "TenantErased":
      return undefined;
    case "ReservationRefused":
      return { ...state, refused: new Set(state.refused).add(event.data.reservation) };
    case "TenantDataKeyRewrapped":
      return { ...state, dataKey: event.data.dataKey };
    case "TenantRenamed":
    case "TenantDeliveryPolicyChanged":
    case "TenantRetentionChanged":
      return { ...withChanges(tenantFacts, state, event), updatedAt };
    case "WebhookSecretRegenerated": {
      const { webhookSecret, webhookSecretFingerprint, previous } = event.data;
      const previousSecrets = stillSigning(previous, [currentSecret(state), ...state.previousSecrets]);
      return { ...state, webhookSecret, webhookSecretFingerprint, previousSecrets, updatedAt };
    }
    case "WebhookSecretsExpired":
      return { ...state, previousSecrets: stillSigning(event.data.previous, state.previousSecrets) };
    default:
      return { ...state, users: evolveUsers(state.users as Map<string, User>, event) };
  }
}

/** The secret that signs `X-Service-Signature`. */
export function currentSecret({ webhookSecret, webhookSecretFingerprint }: Tenant): SealedSecret {
  return { secret: webhookSecret, fingerprint: webhookSecretFingerprint };
}

/** Facts about one user. */
export type UserEvent = Extract<TenantEvent, { data: { userId: string } }>;

function evolveUsers(users: Map<string, User>, event: UserEvent): Map<string, User> {
  const { userId, at } = event.data;
  if (event.type === "UserCreated") {
    const { email, emailHash, passwordHash, role } = event.data;
    return users.set(userId, {
      id: userId, email, emailHash, passwordHash, role,
      status: "Active", sessionVersion: 0, createdAt: at, updatedAt: at,
    });
  }
  const user = users.get(userId);
  // Facts of older programs about purges come here, too, and name no user.
  if (!user) return users;
  switch (event.type) {
    case "UserEmailChanged":
      return users.set(userId, { ...user, email: event.data.email, emailHash: event.data.emailHash, updatedAt: at });
    case "UserPasswordChanged":
      return users.set(userId, { ...endSessions(user), passwordHash: event.data.passwordHash, updatedAt: at });
    case "UserRoleChanged":
      return users.set(userId, { ...endSessions(user), role: event.data.role, updatedAt: at });
    case "UserStatusChanged":
      return users.set(userId, { ...endSessions(user), status: event.data.status, updatedAt: at });
    case "UserDeleted":
      users.delete(userId);
      return users;
    case "UserForgotten":
      return users;
  }
}

function endSessions(user: User): User {
  return { ...user, sessionVersion: user.sessionVersion + 1 };
}

/** Tenants with their users, by tenant id; undefined where one was erased. */
export const tenants: AggregateType<Tenant, TenantEvent> = {
  category: "tenant",
  stream: streams.tenant,
  evolve,
};

/** The caller's own tenant, under the id it named if it did. Throws a Refusal (not-found, forbidden). */
export async function ownTenant(aggregates: Aggregates, caller: Caller, id = caller.tenantId): Promise<Tenant> {
  const { state } = await aggregates.current(tenants, id);
  if (!state) refuse("not-found", "tenant not found");
  if (id !== caller.tenantId) refuse("forbidden", "the tenant is another account's");
  return state;
}
