import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/**
 * How destinations can have requests authenticated: a header of their own, a bearer token, one got by OAuth client
 * credentials, or HTTP Basic.
 */
export const authTypes = ["ApiKey", "BearerToken", "JwtBearer", "BasicAuth"] as const;
/** One of {@link authTypes}; decides which fields the credentials have (application/delivery/request). */
export type AuthType = (typeof authTypes)[number];

/** How outbound requests to the destination are authenticated; the credentials are sealed. */
export interface DestinationAuth {
  readonly type: AuthType;
  readonly credentials: string;
}

interface Ids {
  destinationId: string;
  tenantId: string;
  at: Timestamp;
}

/** Facts of a `destination-<id>` stream. */
export type DestinationEvent =
  | DomainEvent<
      "DestinationRegistered",
      Ids & { url: string; serverRateLimit: number; auth: DestinationAuth | null; ingestTokenHash: string }
    >
  | DomainEvent<"DestinationUrlChanged", Ids & { url: string }>
  | DomainEvent<"DestinationRateLimitChanged", Ids & { serverRateLimit: number }>
  | DomainEvent<"DestinationActivated", Ids>
  | DomainEvent<"DestinationDeactivated", Ids>
  | DomainEvent<"DestinationAuthConfigured", Ids & { auth: DestinationAuth }>
  | DomainEvent<"DestinationAuthRemoved", Ids>
  | DomainEvent<"IngestTokenRegenerated", Ids & { ingestTokenHash: string; previousTokenHash: string }>
  | DomainEvent<"DestinationDeleted", Ids & { ingestTokenHash: string }>;
