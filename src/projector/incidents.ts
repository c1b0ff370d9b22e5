import { destinations } from "../../projections/destinations/destinations.ts";
import {
  affectedEvents, begun, failuresOfIncident, incidents, openCounter, standingCounter, standingOf, standings,
  withFailure, type AffectedEventDocument, type Deletion, type IncidentDocument, type Standing,
} from "../../projections/incidents/incidents.ts";
import { add, create, put, remove } from "../../projections/projection.ts";
import { countsForCircuit, type Moved } from "../features/events/facts.ts";
import type { AnyEvent } from "../features/facts.ts";
import { logStart, type LogEntry, type Position, type RecordedEvent } from "../kernel/ports/event-store.ts";
import { tenantCounter, type Change, type ReadModels } from "../kernel/ports/read-models.ts";
import { documentOf, pagesOf } from "../kernel/read-models/scans.ts";
import { eventIdIn } from "./entries.ts";

const atOnce = 500;
const eventsPerQuery = 100;
/** Incidents of one event whose counts follow it: the newest. */
const incidentsOfEvent = 16;

type Entry = RecordedEvent<AnyEvent>;
type Deleted = Extract<Entry, { readonly type: "DestinationDeleted" }>;
type Failure = Extract<Entry, { readonly type: "DeliveryFailed" }>;

/**
 * Makes the changes to incidents, which depend on all earlier entries. Those that are not over are in memory. Late
 * entries of a stream that was quarantined change no incident until a rebuild.
 */
export class Incidents {
  readonly #readModels: Pick<ReadModels, "find" | "get">;
  /** By destination. */
  readonly #current = new Map<string, IncidentDocument>();
  /** The incidents of events, as the batch leaves them. */
  readonly #affected = new Map<string, readonly string[]>();
  /** Whether destinations are there, as the batch leaves them. */
  readonly #destinations = new Map<string, boolean>();
  #upTo: Position = logStart;

  constructor(readModels: Pick<ReadModels, "find" | "get">) {
    this.#readModels = readModels;
  }

  /** Continues at the end of the read models. */
  async load(upTo: Position): Promise<void> {
    this.#current.clear();
    this.applied();
    const anyOf = { field: "state", values: ["begun", "open"] };
    for await (const page of pagesOf(this.#readModels, incidents, { anyOf, size: atOnce })) {
      for (const incident of page) this.#current.set(incident.destinationUrlId, incident);
    }
    this.#upTo = upTo;
  }

  /** Reads what {@link changesOf} needs to know of these entries, all at once. */
  async prepare(entries: readonly LogEntry[]): Promise<void> {
    const wanted = new Set<string>();
    for (const entry of entries) {
      const eventId = entry.unreadable === undefined ? eventToLookUp(entry as Entry) : undefined;
      if (eventId !== undefined && !this.#affected.has(eventId)) wanted.add(eventId);
    }
    const eventIds = [...wanted];
    for (let at = 0; at < eventIds.length; at += eventsPerQuery) {
      const values = eventIds.slice(at, at + eventsPerQuery);
      const order = { field: affectedEvents.key, descending: false };
      const found = (await this.#readModels.find({
        collection: affectedEvents.name, anyOf: { field: affectedEvents.key, values }, order, limit: eventsPerQuery,
      })) as readonly AffectedEventDocument[];
      for (const eventId of values) this.#affected.set(eventId, []);
      for (const { eventId, incidentIds } of found) this.#affected.set(eventId, incidentIds);
    }
  }

  /** Whether {@link changesOf} must be called for an entry. */
  concerns(entry: LogEntry): boolean {
    if (entry.unreadable !== undefined) return false;
    const { type, data } = entry as Entry;
    switch (type) {
      case "DeliverySucceeded":
        return !data.test && (mayHaveFailed(data) || this.#current.has(data.destinationId));
      case "DeliveryFailed":
      case "DeliveryExhausted":
      case "EventCancelled":
      case "EventReplayed":
        return !data.test;
      case "CircuitOpened":
      case "CircuitProbeClaimed":
        return this.#current.has(data.destinationId);
      case "DestinationRegistered":
      case "DestinationDeleted":
      case "TenantErased":
        return true;
      default:
        return false;
    }
  }

  /** The changes to incidents. Call it in the order of the log; may be called again after it throws. */
  async changesOf(entry: LogEntry): Promise<readonly Change[]> {
    if (entry.position <= this.#upTo) return [];
    const changes = await this.#changesOf(entry as Entry);
    this.#upTo = entry.position;
    return changes;
  }

  /** The event was accepted again, under the id of a purged one. */
  begunAgain(entry: LogEntry): void {
    const eventId = eventIdIn(entry);
    if (eventId !== undefined) this.#affected.set(eventId, []);
  }

  /** Call it when a batch was applied. */
  applied(): void {
    this.#affected.clear();
    this.#destinations.clear();
  }

  async #changesOf(entry: Entry): Promise<readonly Change[]> {
    switch (entry.type) {
      case "DeliverySucceeded": {
        const moved = await this.#moved(entry.data);
        return [...moved, ...this.#over(entry.data.destinationId, entry.data.at)];
      }
      case "DeliveryFailed":
        return countsForCircuit(entry.data) ? this.#failed(entry) : [];
      case "DeliveryExhausted":
      case "EventCancelled":
      case "EventReplayed":
        return this.#moved(entry.data);
      case "CircuitOpened":
        return this.#circuitOpened(entry.data.destinationId);
      case "CircuitProbeClaimed":
        return this.#probed(entry.data.destinationId);
      case "DestinationRegistered":
        this.#destinations.set(entry.data.destinationId, true);
        return [];
      case "DestinationDeleted":
        this.#destinations.set(entry.data.destinationId, false);
        return this.#over(entry.data.destinationId, entry.data.at, deletionOf(entry));
      case "TenantErased":
        for (const [id, { tenantId }] of this.#current) if (tenantId === entry.data.tenantId) this.#current.delete(id);
        return [];
      default:
        return [];
    }
  }

  async #failed({ id, data }: Failure): Promise<readonly Change[]> {
    const { destinationId, eventId, to } = data;
    const before = this.#current.get(destinationId);
    if (!before && !(await this.#isThere(destinationId))) return [];
    const incident = withFailure(before ?? begun(id, data), data);
    if (incident.state === "begun" && incident.attempts < failuresOfIncident) {
      this.#current.set(destinationId, incident);
      return [before ? put(incidents, incident) : create(incidents, incident)];
    }
    if (isFirstOf(data) && !this.#affected.has(eventId)) this.#affected.set(eventId, []);
    return this.#open(incident, incident.firstEvents ?? { [eventId]: standingOf(to) });
  }

  async #circuitOpened(destinationId: string): Promise<readonly Change[]> {
    const incident = this.#current.get(destinationId);
    if (!incident) return [];
    return this.#open({ ...incident, opened: incident.opened + 1 }, incident.firstEvents ?? {});
  }

  #probed(destinationId: string): readonly Change[] {
    const incident = this.#current.get(destinationId);
    return incident ? [this.#keep({ ...incident, probes: incident.probes + 1 })] : [];
  }

  /** Keeps an incident that is open from now on, if it was not before; `failed`: events that it affects. */
  async #open(
    incident: IncidentDocument, failed: Readonly<Record<string, Standing>>,
  ): Promise<readonly Change[]> {
    const { id, tenantId, state } = incident;
    const events = await Promise.all(Object.entries(failed).map(async ([eventId, standing]) =>
      ({ eventId, standing, others: await this.#incidentsOf(eventId) })));
    const joined = events.filter(({ others }) => !others.includes(id)).flatMap(({ eventId, standing, others }) => {
      const incidentIds = [...others, id].slice(-incidentsOfEvent);
      this.#affected.set(eventId, incidentIds);
      return [put(affectedEvents, { eventId, tenantId, incidentIds }), stands(incident, standing, 1)];
    });
    const scopes = state === "begun" ? [tenantCounter(incidents, tenantId), openCounter(tenantId)] : [];
    const counted = scopes.map((scope) => add(scope, 1));
    return [this.#keep({ ...incident, state: "open", firstEvents: null }), ...counted, ...joined];
  }

  #over(destinationId: string, endedAt: string, endedBy: Deletion | null = null): readonly Change[] {
    const incident = this.#current.get(destinationId);
    if (!incident) return [];
    this.#current.delete(destinationId);
    if (incident.state === "begun") return [remove(incidents, incident.id)];
    const over = { ...incident, state: "over", endedAt, endedBy } as const;
    return [put(incidents, over), add(openCounter(incident.tenantId), -1)];
  }

  /** Counts an affected event where it stands now. */
  async #moved({ eventId, tenantId, destinationId, from, to }: Moved): Promise<readonly Change[]> {
    const [before, after] = [standingOf(from), standingOf(to)];
    if (before === after) return [];
    const counted = (await this.#incidentsOf(eventId)).flatMap((id) =>
      [stands({ id, tenantId }, before, -1), stands({ id, tenantId }, after, 1)]);
    const current = this.#current.get(destinationId);
    const { firstEvents } = current ?? {};
    if (!current || !firstEvents || !Object.hasOwn(firstEvents, eventId)) return counted;
    return [this.#keep({ ...current, firstEvents: { ...firstEvents, [eventId]: after } }), ...counted];
  }

  #keep(incident: IncidentDocument): Change {
    this.#current.set(incident.destinationUrlId, incident);
    return put(incidents, incident);
  }

  async #incidentsOf(eventId: string): Promise<readonly string[]> {
    const known = this.#affected.get(eventId)
      ?? (await documentOf(this.#readModels, affectedEvents, eventId))?.incidentIds ?? [];
    this.#affected.set(eventId, known);
    return known;
  }

  /** Attempts that were under way when their destination was deleted begin no incident. */
  async #isThere(destinationId: string): Promise<boolean> {
    const isThere = this.#destinations.get(destinationId)
      ?? (await documentOf(this.#readModels, destinations, destinationId)) !== null;
    this.#destinations.set(destinationId, isThere);
    return isThere;
  }
}

function deletionOf({ position, type, data, metadata: { at: time, actor } }: Deleted): Deletion {
  return { position, type, subject: { type: "destination", id: data.destinationId }, time, actor };
}

/** The event whose incidents must be known for an entry. */
function eventToLookUp({ type, data }: Entry): string | undefined {
  // A fact that is damaged may have no data.
  if ((data as object | null) === null) return undefined;
  switch (type) {
    case "DeliverySucceeded":
      return data.test || !mayHaveFailed(data) || data.from === data.to ? undefined : data.eventId;
    case "DeliveryFailed":
      return data.test || isFirstOf(data) || !countsForCircuit(data) ? undefined : data.eventId;
    case "DeliveryExhausted":
    case "EventCancelled":
    case "EventReplayed":
      return data.test ? undefined : data.eventId;
    default:
      return undefined;
  }
}

/**
 * Whether a delivered event may have failed before. It misses the late success of a lost first attempt during another
 * attempt: looking each first success up would cost every delivery.
 */
function mayHaveFailed({ attempt, from }: Pick<Failure["data"], "attempt" | "from">): boolean {
  return attempt > 1 || from !== "Processing";
}

/** Whether the event had no failed attempt before. */
function isFirstOf({ attempt, from, to }: Failure["data"]): boolean {
  return attempt === 1 && from !== to;
}

function stands(incident: Pick<IncidentDocument, "id" | "tenantId">, standing: Standing, by: 1 | -1): Change {
  return { op: "add", scope: standingCounter(incident), bucket: standings.indexOf(standing), by };
}
