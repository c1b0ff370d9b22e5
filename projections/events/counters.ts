import type { EventStatus } from "../../src/domain/event/events.ts";
import { millis } from "../../src/domain/time.ts";
import type { Change } from "../../src/ports/read-models.ts";
import { add } from "../projection.ts";
import type { EventFilter } from "./events.ts";

const minuteMs = 60_000;

/** How coarsely events are counted by the time of their acceptance, coarsest first. */
export const levels = [
  { name: "day", ms: 1440 * minuteMs },
  { name: "hour", ms: 60 * minuteMs },
  { name: "minute", ms: minuteMs },
] as const;
type Level = (typeof levels)[number]["name"] | "all";

/**
 * The scope of the counters of the events a filter (without its times) means. Level `all` has the one
 * bucket 0; at the others, a bucket is the number of days, hours or minutes since 1970.
 */
export function eventsCounter({ tenantId, destinationUrlId, status }: EventFilter, level: Level): string {
  return `events/${tenantId}/${destinationUrlId ?? "*"}/${status ?? "*"}/${level}`;
}

function count(filter: EventFilter, acceptedAt: number, by: number, changes: Change[]): void {
  changes.push(add(eventsCounter(filter, "all"), by));
  for (const { name, ms } of levels) changes.push(add(eventsCounter(filter, name), by, Math.floor(acceptedAt / ms)));
}

/** Counts an event in one status: among all of its tenant's, and among its destination's. */
function countStatus(fact: Omit<Moved, "from" | "to">, status: EventStatus, by: number, changes: Change[]): void {
  const { tenantId, destinationId, acceptedAt } = fact;
  const at = millis(acceptedAt);
  count({ tenantId, status }, at, by, changes);
  count({ tenantId, destinationUrlId: destinationId, status }, at, by, changes);
}

/** Counts a new event. */
export function counted(tenantId: string, destinationId: string, acceptedAt: string): Change[] {
  const changes: Change[] = [];
  const at = millis(acceptedAt);
  count({ tenantId }, at, 1, changes);
  count({ tenantId, destinationUrlId: destinationId }, at, 1, changes);
  countStatus({ tenantId, destinationId, acceptedAt }, "Pending", 1, changes);
  return changes;
}

interface Moved {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly acceptedAt: string;
  readonly from: EventStatus;
  readonly to: EventStatus;
}

/** Moves an event from the counters of one status to those of another. */
export function moved(fact: Moved): Change[] {
  const changes: Change[] = [];
  countStatus(fact, fact.from, -1, changes);
  countStatus(fact, fact.to, 1, changes);
  return changes;
}
