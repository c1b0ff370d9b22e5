import type { DomainEvent } from "../domain-event.ts";
import type { Role } from "../roles.ts";
import type { Scope } from "../scopes.ts";
import type { Timestamp } from "../time.ts";

/** A role that a service account can have. */
export type ServiceRole = Exclude<Role, "Owner">;

interface Ids {
  serviceAccountId: string;
  tenantId: string;
  at: Timestamp;
}

/** Facts of a `serviceAccount-<id>` stream, those of its keys too. A key itself is stored nowhere, only its SHA-256. */
export type ServiceAccountEvent =
  | DomainEvent<"ServiceAccountCreated", Ids & { name: string; role: ServiceRole }>
  | DomainEvent<"ServiceAccountRenamed", Ids & { name: string }>
  | DomainEvent<"ServiceAccountRoleChanged", Ids & { from: ServiceRole; role: ServiceRole }>
  | DomainEvent<"ServiceAccountActivated", Ids>
  | DomainEvent<"ServiceAccountDeactivated", Ids>
  /** The facts before it revoked all keys. */
  | DomainEvent<"ServiceAccountDeleted", Ids>
  | DomainEvent<
      "ServiceKeyIssued",
      Ids & {
        keyId: string;
        name: string;
        keyHash: string;
        prefix: string;
        last4: string;
        /** null: the key may do all that the role may. */
        scopes: readonly Scope[] | null;
        expiresAt: Timestamp | null;
      }
    >
  | DomainEvent<"ServiceKeyRevoked", Ids & { keyId: string; keyHash: string }>;
