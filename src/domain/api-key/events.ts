import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** Facts of an `apiKey-<id>` stream. The key itself is stored nowhere, only its SHA-256. */
export type ApiKeyEvent =
  | DomainEvent<
      "ApiKeyIssued",
      {
        keyId: string;
        tenantId: string;
        name: string;
        keyHash: string;
        prefix: string;
        last4: string;
        expiresAt: Timestamp | null;
        at: Timestamp;
      }
    >
  /** The latest use of the key so far, recorded before the events that show it are purged. */
  | DomainEvent<"ApiKeyUsed", { keyId: string; tenantId: string; usedAt: Timestamp; at: Timestamp }>
  | DomainEvent<"ApiKeyRevoked", { keyId: string; tenantId: string; keyHash: string; at: Timestamp }>;
