import type { EventStatus } from "../../src/domain/event/events.ts";
import { millis } from "../../src/domain/time.ts";
import type { Change } from "../../src/ports/read-models.ts";
import type { EventDocument, EventFilter } from "./events.ts";

const minuteMs = 60_000;

/** In how large pieces of the time of acceptance events are counted, largest first. */
export const levels = [
  { name: "hour", ms: 60 * minuteMs },
  { name: "minute", ms: minuteMs },
] as const;

/** Counters are kept by the minute; those by the hour, and the one of all, follow. */
const rollUps = { hour: 60, all: Infinity };

/** What is counted apart: each status of a destination's events, and of a tenant's, and all of a tenant's. */
export type Counted = Pick<EventFilter, "tenantId" | "destinationUrlId" | "status">;

/**
 * The scope of counters. At level `all` it has the one bucket 0; at the others, a bucket is the number
 * of hours or minutes since 1970.
 */
export function eventsCounter(counted: Counted, level: (typeof levels)[number]["name"] | "all"): string {
  const { tenantId, destinationUrlId = "*", status = "*" } = counted;
  const scope = `events/${tenantId}/${destinationUrlId}/${status}`;
  return level === "minute" ? scope : `${scope}/${level}`;
}

function add(counted: Counted, bucket: number, by: number): Change {
  return { op: "add", scope: eventsCounter(counted, "minute"), bucket, by, rollUps };
}

/** Counts a new event. */
export function counted(tenantId: string, destinationUrlId: string, acceptedAt: string): Change[] {
  const bucket = Math.floor(millis(acceptedAt) / minuteMs);
  const status = "Pending";
  return [
    add({ tenantId }, bucket, 1),
    add({ tenantId, status }, bucket, 1),
    add({ tenantId, destinationUrlId, status }, bucket, 1),
  ];
}

/** Counts an event no more. */
export function uncounted({ tenantId, destinationUrlId, status, acceptedAt }: EventDocument): Change[] {
  const bucket = Math.floor(millis(acceptedAt) / minuteMs);
  return [
    add({ tenantId }, bucket, -1),
    add({ tenantId, status }, bucket, -1),
    add({ tenantId, destinationUrlId, status }, bucket, -1),
  ];
}

/** Moves an event from the counters of one status to those of another. */
export function moved(fact: {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly acceptedAt: string;
  readonly from: EventStatus;
  readonly to: EventStatus;
}): Change[] {
  const { tenantId, destinationId: destinationUrlId, from, to } = fact;
  const bucket = Math.floor(millis(fact.acceptedAt) / minuteMs);
  return [
    add({ tenantId, status: from }, bucket, -1),
    add({ tenantId, status: to }, bucket, 1),
    add({ tenantId, destinationUrlId, status: from }, bucket, -1),
    add({ tenantId, destinationUrlId, status: to }, bucket, 1),
  ];
}
