import type { Mapping, SenderEvent } from "./events.ts";

/** A sender as its own stream tells it. */
export interface Sender {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly destinationId: string;
  readonly mapping: Mapping | null;
  readonly active: boolean;
  readonly deleted: boolean;
  readonly ingestTokenHash: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type SenderState = Sender | undefined;

/** Folds one fact in. */
export function evolve(state: SenderState, event: SenderEvent): SenderState {
  if (event.type === "SenderCreated") {
    const { senderId, at, ...settings } = event.data;
    return { ...settings, id: senderId, active: true, deleted: false, createdAt: at, updatedAt: at };
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
