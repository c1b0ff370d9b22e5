import type { Timestamp } from "../time.ts";
import type { Mapping, SenderEvent } from "./events.ts";
import type { SearchField } from "./search-fields.ts";

/** A sender as folded from its own stream. */
export interface Sender {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly destinationId: string;
  /** Makes the payload from the received body; null: the body is delivered as received. */
  readonly mapping: Mapping | null;
  /** Fields of received bodies that become tags. */
  readonly searchFields: readonly SearchField[];
  /** As a person set it; an inactive one accepts nothing. */
  readonly active: boolean;
  readonly deleted: boolean;
  /** SHA-256 of the token, hex. */
  readonly ingestTokenHash: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Undefined before it was created; a deleted one stays, marked, and is never brought back. */
export type SenderState = Sender | undefined;

/** Folds one fact in. */
export function evolve(state: SenderState, event: SenderEvent): SenderState {
  if (event.type === "SenderCreated") {
    const { senderId, at, searchFields = [], ...settings } = event.data;
    return { ...settings, searchFields, id: senderId, active: true, deleted: false, createdAt: at, updatedAt: at };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "SenderRenamed":
      return { ...state, name: event.data.name, updatedAt };
    case "SenderDestinationChanged":
      return { ...state, destinationId: event.data.destinationId, updatedAt };
    case "SenderMappingChanged":
      return { ...state, mapping: event.data.mapping, updatedAt };
    case "SenderSearchFieldsChanged":
      return { ...state, searchFields: event.data.searchFields, updatedAt };
    case "SenderActivated":
      return { ...state, active: true, updatedAt };
    case "SenderDeactivated":
      return { ...state, active: false, updatedAt };
    case "SenderIngestTokenRegenerated":
      return { ...state, ingestTokenHash: event.data.ingestTokenHash, updatedAt };
    case "SenderDeleted":
      return { ...state, deleted: true, updatedAt };
  }
}
