import type { DomainEvent } from "../domain-event.ts";
import type { Role } from "../roles.ts";
import type { Timestamp } from "../time.ts";

/** As an Admin or Owner sets it: an Inactive user cannot log in, and the user's sessions end. */
export type UserStatus = "Active" | "Inactive";
/** Statuses of users by the numbers that stand for them in requests. */
export const statusesByCode = { 0: "Active", 1: "Inactive" } as const satisfies Record<number, UserStatus>;
/** One of the codes in {@link statusesByCode}. */
export type UserStatusCode = keyof typeof statusesByCode;

/**
 * Facts of a `tenant-<id>` stream. The tenant and its users share it, so that creating both is one append and "the last
 * active Owner stays" is a rule over one set. Emails are sealed under the person's own key, secrets under the tenant's
 * data key: neither is here in clear.
 */
export type TenantEvent =
  | DomainEvent<
      "TenantCreated",
      {
        tenantId: string;
        name: string;
        /** Keyed hash of the comparable name; names its reservation. */
        nameHash: string;
        maxTrys: number;
        /** Seconds. */
        circuitBreakerTimer: number;
        /** The tenant's data key, wrapped by the master key. */
        dataKey: string;
        /** Sealed under the data key. */
        webhookSecret: string;
        webhookSecretFingerprint: string;
        at: Timestamp;
      }
    >
  | DomainEvent<"TenantRenamed", { tenantId: string; name: string; nameHash: string; at: Timestamp }>
  | DomainEvent<
      "TenantDeliveryPolicyChanged",
      { tenantId: string; maxTrys: number; circuitBreakerTimer: number; at: Timestamp }
    >
  /** Finished events older than this many days are purged; null: they are kept. */
  | DomainEvent<"TenantRetentionChanged", { tenantId: string; retentionDays: number | null; at: Timestamp }>
  | DomainEvent<
      "WebhookSecretRegenerated",
      { tenantId: string; webhookSecret: string; webhookSecretFingerprint: string; at: Timestamp }
    >
  | DomainEvent<
      "UserCreated",
      {
        tenantId: string;
        userId: string;
        /** Sealed under the person's key. */
        email: string;
        /** Keyed hash of the comparable email; names its reservation. */
        emailHash: string;
        passwordHash: string;
        role: Role;
        at: Timestamp;
      }
    >
  | DomainEvent<
      "UserEmailChanged",
      { tenantId: string; userId: string; email: string; emailHash: string; at: Timestamp }
    >
  | DomainEvent<"UserPasswordChanged", { tenantId: string; userId: string; passwordHash: string; at: Timestamp }>
  | DomainEvent<
      "UserRoleChanged",
      { tenantId: string; userId: string; from: Role; role: Role; status: UserStatus; at: Timestamp }
    >
  | DomainEvent<
      "UserStatusChanged",
      { tenantId: string; userId: string; from: UserStatus; status: UserStatus; role: Role; at: Timestamp }
    >
  | DomainEvent<"UserDeleted", { tenantId: string; userId: string; role: Role; status: UserStatus; at: Timestamp }>
  /** Every key that opened an address of a deleted user is gone. */
  | DomainEvent<"UserForgotten", { tenantId: string; userId: string; at: Timestamp }>
  /** The same data key under another master key. */
  | DomainEvent<"TenantDataKeyRewrapped", { tenantId: string; dataKey: string; at: Timestamp }>
  /** The tenant is gone with all that belonged to it. */
  | DomainEvent<"TenantErased", { tenantId: string; at: Timestamp }>
  /**
   * A stale reservation of this tenant's (`<stream>@<revision>`) was taken over: a command still about to use it must
   * lose.
   */
  | DomainEvent<"ReservationRefused", { reservation: string; at: Timestamp }>;
