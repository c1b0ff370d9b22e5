import type { EventStatus, WebhookEvent } from "../../src/features/events/facts.ts";
import type { Actor, DataOf } from "../../src/kernel/domain/domain-event.ts";
import type { FailureReason } from "../../src/kernel/domain/failure-reason.ts";
import { tenantCounter, type Collection, type Selection } from "../../src/kernel/ports/read-models.ts";
import type { Projection } from "../projection.ts";

/** Begun: too few attempts failed so far, and no list shows it. */
export const incidentStates = ["begun", "open", "over"] as const;

/** The failed attempts of an incident with one cause. */
export interface IncidentFailure {
  readonly reason: FailureReason;
  readonly statusCode: number | null;
  readonly count: number;
  /** Of the newest of them. */
  readonly error: string;
  readonly eventId: string;
}

/** Where an affected event stands. The index is the bucket of its counter. */
export const standings = ["waiting", "exhausted", "delivered", "cancelled"] as const;
/** One of {@link standings}. */
export type Standing = (typeof standings)[number];

/** The entry of a destination's deletion. */
export interface Deletion {
  readonly position: string;
  readonly type: "DestinationDeleted";
  readonly subject: { readonly type: "destination"; readonly id: string };
  readonly time: string;
  readonly actor: Actor;
}

/** A run of failed attempts to a destination, without a success in between. */
export type IncidentDocument = {
  /** The id of the log entry of its first failed attempt. */
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly state: (typeof incidentStates)[number];
  readonly startedAt: string;
  /** Null while it is not over. */
  readonly endedAt: string | null;
  /** Its failed attempts. */
  readonly attempts: number;
  readonly failures: readonly IncidentFailure[];
  readonly opened: number;
  readonly probes: number;
  /** The failed events and where they stand, while it is `begun`; null afterwards. */
  readonly firstEvents: Readonly<Record<string, Standing>> | null;
  readonly endedBy: Deletion | null;
};

/** An event that an incident affected. */
export type AffectedEventDocument = {
  readonly eventId: string;
  readonly tenantId: string;
  /** The newest incidents in which it failed. */
  readonly incidentIds: readonly string[];
};

/** Consecutive failed attempts that are an incident. */
export const failuresOfIncident = 3;
/** Different causes that are counted apart; those that come later are counted by their reason alone. */
const mostCauses = 32;
const mostErrorCharacters = 300;

/** Incidents of destinations: at most one of each is not over. */
export const incidents: Collection<IncidentDocument> = {
  name: "incidents",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    destinationUrlId: "id",
    state: "text",
    startedAt: "time",
    endedAt: "time",
    attempts: "number",
    failures: "json",
    opened: "number",
    probes: "number",
    firstEvents: "json",
    endedBy: "json",
  },
  indexes: [
    ["state"],
    ["tenantId", "state", "startedAt"],
    ["tenantId", "destinationUrlId", "state", "startedAt"],
  ],
};

/** Filters of incidents; `from` and `to` are inclusive, and of their begin. */
export interface IncidentFilter {
  readonly tenantId: string;
  readonly state?: "open" | "over" | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Selects incidents by a filter. */
export function incidentsSelected({ tenantId, state, destinationUrlId, from, to }: IncidentFilter): Selection {
  const range = { field: "startedAt", ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return {
    collection: incidents.name,
    where: { tenantId, ...(destinationUrlId !== undefined && { destinationUrlId }) },
    anyOf: { field: "state", values: state === undefined ? ["open", "over"] : [state] },
    ...((from ?? to) !== undefined && { range }),
  };
}

/** Events that incidents affected, until they are purged. */
export const affectedEvents: Collection<AffectedEventDocument> = {
  name: "affectedEvents",
  key: "eventId",
  fields: { eventId: "id", tenantId: "id", incidentIds: "json" },
  indexes: [["tenantId"]],
};

/** The scope that counts an incident's affected events by where they stand. */
export function standingCounter({ id, tenantId }: Pick<IncidentDocument, "id" | "tenantId">): string {
  return `${tenantCounter(incidents, tenantId)}/${id}`;
}

/** The scope of the number of a tenant's open incidents. */
export function openCounter(tenantId: string): string {
  return `${tenantCounter(incidents, tenantId)}/open`;
}

/** Where an event of this status stands. */
export function standingOf(status: EventStatus): Standing {
  switch (status) {
    case "Succeeded":
      return "delivered";
    case "CriticalFailure":
      return "exhausted";
    case "Cancelled":
      return "cancelled";
    default:
      return "waiting";
  }
}

type Failed = DataOf<WebhookEvent, "DeliveryFailed">;

/** An incident before its first failed attempt. `id`: of that attempt's entry. */
export function begun(id: string, { tenantId, destinationId, at }: Failed): IncidentDocument {
  return {
    id, tenantId, destinationUrlId: destinationId, state: "begun", startedAt: at, endedAt: null,
    attempts: 0, failures: [], opened: 0, probes: 0, firstEvents: {}, endedBy: null,
  };
}

/** The incident after one more failed attempt. */
export function withFailure(incident: IncidentDocument, failed: Failed): IncidentDocument {
  const { firstEvents } = incident;
  return {
    ...incident,
    attempts: incident.attempts + 1,
    failures: failuresAfter(incident.failures, failed),
    firstEvents: firstEvents && { ...firstEvents, [failed.eventId]: standingOf(failed.to) },
  };
}

function failuresAfter(
  failures: readonly IncidentFailure[], { reason, answer, error, eventId }: Failed,
): readonly IncidentFailure[] {
  const statusCode = answer?.statusCode ?? null;
  const indexOf = (code: number | null) =>
    failures.findIndex((one) => one.reason === reason && one.statusCode === code);
  const own = indexOf(statusCode);
  const isOther = own < 0 && failures.length >= mostCauses;
  const at = isOther ? indexOf(null) : own;
  const failure = {
    reason, statusCode: isOther ? null : statusCode, count: (failures[at]?.count ?? 0) + 1,
    error: error.slice(0, mostErrorCharacters), eventId,
  };
  return at < 0 ? [...failures, failure] : failures.with(at, failure);
}

/** Made by the projection runner, since it depends on all earlier entries. */
export const incidentsProjection: Projection = {
  name: "incidents", version: 1, collections: [incidents, affectedEvents], on: {},
};
