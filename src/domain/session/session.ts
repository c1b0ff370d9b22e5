import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/**
 * Fact of a `session-<id>` stream: a token ended before it expired, or a browser's session with all its tokens.
 * `tokenId` is the id of either.
 */
export type SessionEvent = DomainEvent<
  "SessionRevoked",
  { tokenId: string; userId: string; tenantId: string; expiresAt: Timestamp; at: Timestamp }
>;
