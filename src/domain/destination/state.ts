import type { Timestamp } from "../time.ts";
import type { DestinationAuth, DestinationEvent } from "./events.ts";

/** A destination as folded from its own stream. Its circuit decides whether it is Suspended. */
export interface Destination {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  /** The most requests that may be under way to it at once. */
  readonly serverRateLimit: number;
  /** As a person set it. */
  readonly active: boolean;
  readonly deleted: boolean;
  readonly auth: DestinationAuth | null;
  /** SHA-256 of the token, hex. */
  readonly ingestTokenHash: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Undefined before it was registered; a deleted one stays, marked, and is never brought back. */
export type DestinationState = Destination | undefined;

/** Folds one fact in. */
export function evolve(state: DestinationState, event: DestinationEvent): DestinationState {
  if (event.type === "DestinationRegistered") {
    const { destinationId, at, ...settings } = event.data;
    return { ...settings, id: destinationId, active: true, deleted: false, createdAt: at, updatedAt: at };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "DestinationUrlChanged":
      return { ...state, url: event.data.url, updatedAt };
    case "DestinationRateLimitChanged":
      return { ...state, serverRateLimit: event.data.serverRateLimit, updatedAt };
    case "DestinationActivated":
      return { ...state, active: true, updatedAt };
    case "DestinationDeactivated":
      return { ...state, active: false, updatedAt };
    case "DestinationAuthConfigured":
      return { ...state, auth: event.data.auth, updatedAt };
    case "DestinationAuthRemoved":
      return { ...state, auth: null, updatedAt };
    case "IngestTokenRegenerated":
      return { ...state, ingestTokenHash: event.data.ingestTokenHash, updatedAt };
    case "DestinationDeleted":
      return { ...state, deleted: true, updatedAt };
  }
}
