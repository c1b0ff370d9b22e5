import { circuitPositions, type CircuitEvent, type CircuitPosition } from "../../src/features/circuits/facts.ts";
import {
  destinationStatus, type DestinationStatus, destinationFacts, type AuthType,
} from "../../src/features/destinations/facts.ts";
import { type Change, type Selection, tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, settingHandlers, type Projection } from "../projection.ts";

/** A destination as the API shows it, with the fields from which its availability follows in place of it. */
export type DestinationDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  /** The most requests that may be under way to it at once. */
  readonly serverRateLimit: number;
  readonly authType: AuthType | null;
  /** As a person set it. */
  readonly active: boolean;
  readonly circuit: CircuitPosition;
  /** Until when an open circuit lets nothing through; null unless open. */
  readonly openUntil: string | null;
  /** When its circuit needs attention: at the end of the timer, or of a pause beyond that, or of the probe's lease. */
  readonly wakeAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Fields that lists of destinations can be sorted by. */
export const destinationSortFields = ["id", "url", "serverRateLimit", "createdAt", "updatedAt"] as const;

/**
 * Destinations that are not deleted, by id; indexed by each field that the list can be sorted by, with and without the
 * fields that make up the status in front.
 */
export const destinations: Collection<DestinationDocument> = {
  name: "destinations",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    url: "text",
    serverRateLimit: "number",
    authType: "text",
    active: "boolean",
    circuit: "text",
    openUntil: "time",
    wakeAt: "time",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [
    ...destinationSortFields.map((sort) => ["tenantId", sort] as const),
    ...destinationSortFields.map((sort) => ["tenantId", "active", "circuit", sort] as const),
    ["active", "wakeAt"],
    ["active", "circuit"],
  ],
};

/** Filters of a list of destinations. */
export interface DestinationFilter {
  readonly tenantId: string;
  readonly status?: DestinationStatus | undefined;
}

/** Selects the destinations that match a filter. */
export function destinationsSelected({ tenantId, status }: DestinationFilter): Selection {
  if (!status) return { collection: destinations.name, where: { tenantId } };
  const active = status !== "Inactive";
  const values = circuitPositions.filter((circuit) => destinationStatus({ active, circuit }) === status);
  return { collection: destinations.name, where: { tenantId, active }, anyOf: { field: "circuit", values } };
}

function circuitMoved(
  { destinationId, position, openUntil, probe, pausedUntil = "", at }: CircuitEvent["data"],
): Change[] {
  // At `openUntil` the circuit is looked at even during a pause: if no event is held, it becomes half-open.
  const isLookedAt = openUntil !== null && openUntil <= at;
  const probeAt = isLookedAt && pausedUntil > openUntil ? pausedUntil : openUntil;
  const wakeAt = position === "Closed" ? null : (probe?.leaseUntil ?? probeAt);
  return [set(destinations, destinationId, { circuit: position, openUntil, wakeAt })];
}

/** Lists destinations with the state of their circuits; only an open circuit suspends one. */
export const destinationsProjection: Projection = {
  name: "destinations",
  version: 3,
  collections: [destinations],
  on: {
    DestinationRegistered: ({ destinationId, tenantId, url, serverRateLimit, auth, at }) => [
      create(destinations, {
        id: destinationId,
        tenantId,
        url,
        serverRateLimit,
        authType: auth?.type ?? null,
        active: true,
        circuit: "Closed",
        openUntil: null,
        wakeAt: null,
        createdAt: at,
        updatedAt: at,
      }),
      add(tenantCounter(destinations, tenantId), 1),
    ],
    ...settingHandlers(destinationFacts, destinations, "destinationId"),
    DestinationActivated: ({ destinationId, at }) => [
      set(destinations, destinationId, { active: true, updatedAt: at }),
    ],
    DestinationDeactivated: ({ destinationId, at }) => [
      set(destinations, destinationId, { active: false, updatedAt: at }),
    ],
    DestinationAuthConfigured: ({ destinationId, auth, at }) => [
      set(destinations, destinationId, { authType: auth.type, updatedAt: at }),
    ],
    DestinationAuthRemoved: ({ destinationId, at }) => [
      set(destinations, destinationId, { authType: null, updatedAt: at }),
    ],
    IngestTokenRegenerated: ({ destinationId, at }) => [set(destinations, destinationId, { updatedAt: at })],
    DestinationDeleted: ({ destinationId, tenantId }) => [
      remove(destinations, destinationId),
      add(tenantCounter(destinations, tenantId), -1),
    ],
    CircuitOpened: circuitMoved,
    CircuitHalfOpened: circuitMoved,
    CircuitProbeClaimed: circuitMoved,
    CircuitProbeReleased: circuitMoved,
    CircuitClosed: circuitMoved,
  },
};
