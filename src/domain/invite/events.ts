import type { DomainEvent } from "../domain-event.ts";
import type { Role } from "../roles.ts";
import type { Timestamp } from "../time.ts";

/**
 * Facts of an `invite-<id>` stream. The token is stored nowhere, only its SHA-256; the email is sealed under the key of
 * the invited person, whose user will have the invite's own id.
 */
export type InviteEvent =
  | DomainEvent<
      "InviteCreated",
      {
        inviteId: string;
        tenantId: string;
        /** Sealed as the user's own email will be. */
        email: string;
        role: Role;
        tokenHash: string;
        expiresAt: Timestamp;
        at: Timestamp;
      }
    >
  | DomainEvent<"InviteRevoked", { inviteId: string; tenantId: string; tokenHash: string; at: Timestamp }>
  /** Its person was deleted: nobody can use it any more, and its address is unreadable. */
  | DomainEvent<"InviteForgotten", { inviteId: string; tenantId: string; tokenHash: string; at: Timestamp }>
  /** The invite is used up: only the writer of this goes on to create the user. */
  | DomainEvent<"InviteAccepted", { inviteId: string; tenantId: string; at: Timestamp }>;
