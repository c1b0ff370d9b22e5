import { circuitPositions, type CircuitEvent, type CircuitPosition } from "../../src/features/circuits/facts.ts";
import { shownCertificate, type ShownCertificate } from "../../src/features/destinations/certificates/facts.ts";
import {
  destinationStatus, destinationFacts, unset, type DestinationSettings, type DestinationStatus, type AuthType,
} from "../../src/features/destinations/facts.ts";
import { maskedHeaders } from "../../src/features/destinations/headers.ts";
import type { CircuitPolicy } from "../../src/features/destinations/policy.ts";
import { tenantCounter, type Change, type Selection, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, raise, remove, set, settingHandlers, type Projection } from "../projection.ts";

/** A destination, with the fields from which its availability follows. */
export type DestinationDocument = Omit<DestinationSettings, "circuit"> & {
  readonly id: string;
  readonly tenantId: string;
  readonly authType: AuthType | null;
  readonly clientCertificate: ShownCertificate | null;
  /** The destination's setting; `circuit` is the position of its circuit. */
  readonly circuitPolicy: CircuitPolicy | null;
  readonly active: boolean;
  readonly circuit: CircuitPosition;
  /** Null unless the circuit is open. */
  readonly openUntil: string | null;
  readonly failures: number;
  /** When the first of its failures in a row was counted; null without any. */
  readonly failingSince: string | null;
  /** The end of the timer, of a longer pause, or of the probe's lease. */
  readonly wakeAt: string | null;
  /** When an attempt succeeded last, and when one failed. */
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export const destinationSortFields = ["id", "url", "serverRateLimit", "createdAt", "updatedAt"] as const;

/** Destinations that are not deleted, indexed by each sort field, with and without the status in front. */
export const destinations: Collection<DestinationDocument> = {
  name: "destinations",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    url: "text",
    serverRateLimit: "number",
    whenSuspended: "text",
    // Not "number", which are integers.
    ratePerSecond: "json",
    name: "text",
    description: "text",
    ownerId: "text",
    metadata: "json",
    headers: "json",
    ordering: "json",
    authType: "text",
    clientCertificate: "json",
    timeoutMs: "number",
    retryPolicy: "json",
    circuitPolicy: "json",
    expireAfterDays: "number",
    disableAfterDays: "number",
    active: "boolean",
    circuit: "text",
    openUntil: "time",
    failures: "number",
    failingSince: "time",
    wakeAt: "time",
    lastSuccessAt: "time",
    lastFailureAt: "time",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [
    ...destinationSortFields.map((sort) => ["tenantId", sort] as const),
    ...destinationSortFields.map((sort) => ["tenantId", "active", "circuit", sort] as const),
    ["tenantId", "ownerId", "id"],
    ["active", "wakeAt"],
    ["active", "circuit"],
    ["expireAfterDays", "id"],
    ["active", "disableAfterDays", "failingSince"],
  ],
};

/** Filters of the list. */
export interface DestinationFilter {
  readonly tenantId: string;
  readonly status?: DestinationStatus | undefined;
  readonly ownerId?: string | undefined;
}

/** Selects destinations by a filter. */
export function destinationsSelected({ tenantId, status, ownerId }: DestinationFilter): Selection {
  const where = { tenantId, ...(ownerId !== undefined && { ownerId }) };
  if (!status) return { collection: destinations.name, where };
  const active = status !== "Inactive";
  const values = circuitPositions.filter((circuit) => destinationStatus({ active, circuit }) === status);
  return { collection: destinations.name, where: { ...where, active }, anyOf: { field: "circuit", values } };
}

function circuitMoved(
  { destinationId, position, openUntil, failures, probe, pausedUntil = "", at }: CircuitEvent["data"],
  more: Partial<DestinationDocument> = {},
): Change[] {
  // Even during a pause the circuit is checked at `openUntil`: without held events it becomes half-open.
  const isLookedAt = openUntil !== null && openUntil <= at;
  const probeAt = isLookedAt && pausedUntil > openUntil ? pausedUntil : openUntil;
  const wakeAt = position === "Closed" ? null : (probe?.leaseUntil ?? probeAt);
  return [set(destinations, destinationId, { circuit: position, openUntil, failures, wakeAt, ...more })];
}

function failingSince({ failures, at }: CircuitEvent["data"]): Pick<DestinationDocument, "failingSince"> | undefined {
  if (failures > 1) return undefined;
  return { failingSince: failures === 0 ? null : at };
}

function touched({ destinationId, at }: { readonly destinationId: string; readonly at: string }): Change[] {
  return [set(destinations, destinationId, { updatedAt: at })];
}

/** Lists destinations with their circuits and last outcomes; only an open circuit suspends one. */
export const destinationsProjection: Projection = {
  name: "destinations",
  version: 5,
  collections: [destinations],
  on: {
    DestinationRegistered: ({
      destinationId, tenantId, auth, ingestTokenHash: _hash, circuit = null, headers = {}, clientCertificate = null, at,
      ...settings
    }) => [
      create(destinations, {
        ...unset,
        ...settings,
        id: destinationId,
        tenantId,
        authType: auth?.type ?? null,
        headers: maskedHeaders(headers),
        clientCertificate: shownCertificate(clientCertificate),
        circuitPolicy: circuit,
        active: true,
        circuit: "Closed",
        openUntil: null,
        failures: 0,
        failingSince: null,
        wakeAt: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        createdAt: at,
        updatedAt: at,
      }),
      add(tenantCounter(destinations, tenantId), 1),
    ],
    ...settingHandlers(destinationFacts, destinations, "destinationId", { circuit: "circuitPolicy" }),
    DestinationActivated: ({ destinationId, at }) => [
      set(destinations, destinationId, { active: true, updatedAt: at }),
    ],
    DestinationDeactivated: ({ destinationId, at }) => [
      set(destinations, destinationId, { active: false, updatedAt: at }),
    ],
    DestinationAuthConfigured: ({ destinationId, auth, at }) => [
      set(destinations, destinationId, { authType: auth.type, updatedAt: at }),
    ],
    DestinationHeadersConfigured: ({ destinationId, headers, at }) => [
      set(destinations, destinationId, { headers: maskedHeaders(headers), updatedAt: at }),
    ],
    DestinationAuthRemoved: ({ destinationId, at }) => [
      set(destinations, destinationId, { authType: null, updatedAt: at }),
    ],
    DestinationCertificateConfigured: ({ destinationId, clientCertificate, at }) => [
      set(destinations, destinationId, { clientCertificate: shownCertificate(clientCertificate), updatedAt: at }),
    ],
    DestinationCertificateRemoved: ({ destinationId, at }) => [
      set(destinations, destinationId, { clientCertificate: null, updatedAt: at }),
    ],
    IngestTokenRegenerated: touched,
    DestinationSecretReplaced: touched,
    DestinationSecretRemoved: touched,
    DestinationSigningKeyReplaced: touched,
    DestinationSigningKeyRemoved: touched,
    DestinationDeleted: ({ destinationId, tenantId }) => [
      remove(destinations, destinationId),
      add(tenantCounter(destinations, tenantId), -1),
    ],
    CircuitCounted: (circuit) =>
      [set(destinations, circuit.destinationId, { failures: circuit.failures, ...failingSince(circuit) })],
    CircuitOpened: (circuit) => circuitMoved(circuit, failingSince(circuit)),
    CircuitHalfOpened: (circuit) => circuitMoved(circuit),
    CircuitProbeClaimed: (circuit) => circuitMoved(circuit),
    CircuitProbeReleased: (circuit) => circuitMoved(circuit),
    CircuitClosed: (circuit) => circuitMoved(circuit, failingSince(circuit)),
    // Folded once per batch.
    DeliverySucceeded: ({ destinationId, at }) => [raise(destinations, destinationId, { lastSuccessAt: at })],
    DeliveryFailed: ({ destinationId, at }) => [raise(destinations, destinationId, { lastFailureAt: at })],
  },
};
