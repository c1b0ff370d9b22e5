import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** Fact of a `session-<jti>` stream: an access token was logged out before it expired. */
export type SessionEvent = DomainEvent<
  "SessionRevoked",
  { tokenId: string; userId: string; tenantId: string; expiresAt: Timestamp; at: Timestamp }
>;
