import type { Role } from "../roles.ts";
import type { Timestamp } from "../time.ts";
import type { TenantEvent, UserStatus } from "./events.ts";

/** A tenant's user, as folded from the tenant's stream; deleted ones are not there. */
export interface User {
  readonly id: string;
  /** Sealed under the person's own key: unreadable once that is deleted. */
  readonly email: string;
  /** Keyed hash of the comparable email; names its reservation. */
  readonly emailHash: string;
  /** bcrypt. */
  readonly passwordHash: string;
  readonly role: Role;
  readonly status: UserStatus;
  /** Raised by every change that must end the user's sessions; tokens carry the one they were made under. */
  readonly sessionVersion: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** An account with its settings and its users, as folded from its own stream; secrets in it are sealed. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** Keyed hash of the comparable name; names its reservation. */
  readonly nameHash: string;
  /** Failed attempts after which an event is given up, and in a row after which a circuit opens. */
  readonly maxTrys: number;
  /** How long an open circuit stays so before a probe, seconds. */
  readonly circuitBreakerTimer: number;
  /** Finished events older than this many days are purged; null: never. */
  readonly retentionDays: number | null;
  /** The key that seals the tenant's secrets, wrapped by a master key. */
  readonly dataKey: string;
  /** Sealed under the data key; signs deliveries. */
  readonly webhookSecret: string;
  /** 16 hex digits of its SHA-256: tells secrets apart and reveals none. */
  readonly webhookSecretFingerprint: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** By user id. */
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
      users: new Map(), refused: new Set(),
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
      return { ...state, name: event.data.name, nameHash: event.data.nameHash, updatedAt };
    case "TenantDeliveryPolicyChanged": {
      const { maxTrys, circuitBreakerTimer } = event.data;
      return { ...state, maxTrys, circuitBreakerTimer, updatedAt };
    }
    case "TenantRetentionChanged":
      return { ...state, retentionDays: event.data.retentionDays, updatedAt };
    case "WebhookSecretRegenerated": {
      const { webhookSecret, webhookSecretFingerprint } = event.data;
      return { ...state, webhookSecret, webhookSecretFingerprint, updatedAt };
    }
    default:
      return { ...state, users: evolveUsers(state.users as Map<string, User>, event) };
  }
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
