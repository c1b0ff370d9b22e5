import { waiting } from "../../../projections/due/due.ts";
import { eventsCounter, countedOf } from "../../../projections/events/counters.ts";
import { events, eventsOrdered, type EventFilter } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { CircuitPosition } from "../circuits/facts.ts";
import type { EventStatus } from "../events/facts.ts";

/** The health of a destination as the API shows it. */
export type Health = Readonly<components["schemas"]["Destination"]["health"]>;

/** The part of a destination's health that only the read models know. */
export type Load = Omit<Health, "circuit">;

/** The part of a circuit that health shows. */
export interface ShownCircuit {
  readonly position: CircuitPosition;
  readonly failures: number;
  readonly openUntil: string | null;
}

type Questions = Pick<ReadModels, "find" | "sum">;
interface Place extends Pick<EventFilter, "tenantId"> {
  readonly destinationUrlId: string;
}
type Ends = Pick<Health, "lastSuccessAt" | "lastFailureAt">;

/** The load of a destination without any event. */
export const noLoad: Load = { waiting: 0, inFlight: 0, oldestDueAt: null, lastSuccessAt: null, lastFailureAt: null };
/** The load at a moment of the past: no read model has it. */
export const unknownLoad: Load = {
  waiting: null, inFlight: null, oldestDueAt: null, lastSuccessAt: null, lastFailureAt: null,
};

const positions = { Closed: "closed", Open: "open", HalfOpen: "half-open" } as const;

/** The health that a circuit and a load show; a destination has no circuit before its first failed attempt. */
export function healthOf(circuit: ShownCircuit | undefined, load: Load): Health {
  const { position = "Closed", failures = 0, openUntil = null } = circuit ?? {};
  const { lastSuccessAt, lastFailureAt, ...backlog } = load;
  return { ...backlog, circuit: { position: positions[position], failures, openUntil }, lastSuccessAt, lastFailureAt };
}

/** The load of a destination, from counters and from the ends of indexes. */
export async function loadOf(
  readModels: Questions, place: Place, { lastSuccessAt, lastFailureAt }: Ends,
): Promise<Load> {
  const [inFlight, backlog] = await Promise.all([
    countOf(readModels, place, "Processing"), backlogOf(readModels, place),
  ]);
  return { ...backlog, inFlight, lastSuccessAt, lastFailureAt };
}

/** Events that wait for an attempt, and the due time of the first retry or of the Pending event accepted first. */
export async function backlogOf(
  readModels: Questions, place: Place,
): Promise<{ readonly waiting: number; readonly oldestDueAt: string | null }> {
  const { tenantId, destinationUrlId } = place;
  const [pending, retries] = await Promise.all([
    countOf(readModels, place, "Pending"), countOf(readModels, place, "WaitingRetry"),
  ]);
  const [[first], [retry]] = await Promise.all([
    pending === 0 ? [] : readModels.find({
      collection: events.name, where: { tenantId, destinationUrlId, status: "Pending" },
      order: eventsOrdered(false), limit: 1,
    }),
    retries === 0 ? [] : readModels.find({
      collection: waiting.name, where: { destinationId: destinationUrlId },
      order: { field: "dueAt", descending: false }, limit: 1,
    }),
  ]);
  const dueTimes = [first?.["nextAttemptAt"], retry?.["dueAt"]].filter((at) => typeof at === "string");
  return { waiting: pending + retries, oldestDueAt: dueTimes.sort()[0] ?? null };
}

async function countOf(readModels: Questions, place: Place, status: EventStatus): Promise<number> {
  const scopes = countedOf({ ...place, statuses: [status] }).map((counted) => eventsCounter(counted, "all"));
  const counts = await Promise.all(scopes.map((scope) => readModels.sum(scope)));
  return counts.reduce((sum, count) => sum + count, 0);
}
