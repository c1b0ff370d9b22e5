import { eventStatuses, type EventStatus, type Moved } from "../../src/features/events/facts.ts";
import { millis } from "../../src/kernel/domain/time.ts";
import type { Change } from "../../src/kernel/ports/read-models.ts";
import { boundsOf, periodOf, type EventDocument, type EventFilter, type Period } from "./events.ts";

const minuteMs = 60_000;

/** Units of acceptance time in which events are counted, largest first. */
export const levels = [
  { name: "hour", ms: 60 * minuteMs },
  { name: "minute", ms: minuteMs },
] as const;
export type Level = (typeof levels)[number];

/** Counters by the minute roll up into those by the hour and the overall one. */
const rollUps = { hour: 60, all: Infinity };

/** Sets with counters: a destination's events by status, a tenant's by status, a tenant's; and of test events. */
export interface Counted extends Pick<EventFilter, "tenantId" | "destinationUrlId"> {
  readonly status?: EventStatus | undefined;
  readonly test?: boolean;
}

/** The scope of counters. Level `all` has one bucket, 0; other buckets are hours or minutes since 1970. */
export function eventsCounter(counted: Counted, level: Level["name"] | "all"): string {
  const { tenantId, destinationUrlId = "*", status = "*", test = false } = counted;
  const scope = `${test ? "tests" : "events"}/${tenantId}/${destinationUrlId}/${status}`;
  return level === "minute" ? scope : `${scope}/${level}`;
}

interface Scopes {
  readonly tenantId: string;
  readonly all: string;
  readonly byStatus: Readonly<Record<EventStatus, readonly [ofTenant: string, ofDestination: string]>>;
}

const scopesRemembered = 1_000;
/** Cached by destination: building them costs more than counting an event. */
const scopes = new Map<string, Scopes>();

function scopesOf(tenantId: string, destinationUrlId: string, test: boolean): Scopes {
  if (test) return scopesMade({ tenantId, destinationUrlId, test });
  let found = scopes.get(destinationUrlId);
  if (found?.tenantId !== tenantId) {
    found = scopesMade({ tenantId, destinationUrlId, test });
    if (scopes.size >= scopesRemembered) scopes.clear();
    scopes.set(destinationUrlId, found);
  }
  return found;
}

function scopesMade({ tenantId, destinationUrlId, test = false }: Counted): Scopes {
  const ofStatus = (status: EventStatus) => [
    eventsCounter({ tenantId, status, test }, "minute"),
    eventsCounter({ tenantId, destinationUrlId, status, test }, "minute"),
  ];
  const byStatus = Object.fromEntries(eventStatuses.map((status) => [status, ofStatus(status)]));
  const all = eventsCounter({ tenantId, test }, "minute");
  return { tenantId, all, byStatus: byStatus as unknown as Scopes["byStatus"] };
}

function bucketOf(acceptedAt: string): number {
  return Math.floor(millis(acceptedAt) / minuteMs);
}

function add(scope: string, bucket: number, by: number): Change {
  return { op: "add", scope, bucket, by, rollUps };
}

/** Counts a new event. */
export function counted(
  tenantId: string, destinationUrlId: string, acceptedAt: string, test: EventDocument["test"] = null,
): Change[] {
  return comeOrGone({ tenantId, destinationUrlId, status: "Pending", acceptedAt, test }, 1);
}

/** Removes an event from the counters. */
export function uncounted(event: EventDocument): Change[] {
  return comeOrGone(event, -1);
}

type Countable = Pick<EventDocument, "tenantId" | "destinationUrlId" | "status" | "acceptedAt" | "test">;

function comeOrGone({ tenantId, destinationUrlId, status, acceptedAt, test }: Countable, by: 1 | -1): Change[] {
  const { all, byStatus } = scopesOf(tenantId, destinationUrlId, test === true);
  const [ofTenant, ofDestination] = byStatus[status];
  const bucket = bucketOf(acceptedAt);
  return [add(all, bucket, by), add(ofTenant, bucket, by), add(ofDestination, bucket, by)];
}

/** Moves an event from the counters of one status to those of another. */
export function moved(fact: Omit<Moved, "eventId" | "at">): Change[] {
  const { byStatus } = scopesOf(fact.tenantId, fact.destinationId, fact.test === true);
  const [fromOfTenant, fromOfDestination] = byStatus[fact.from];
  const [toOfTenant, toOfDestination] = byStatus[fact.to];
  const bucket = bucketOf(fact.acceptedAt);
  return [
    add(fromOfTenant, bucket, -1),
    add(toOfTenant, bucket, 1),
    add(fromOfDestination, bucket, -1),
    add(toOfDestination, bucket, 1),
  ];
}

/** Counters of a scope to sum, between two buckets, both inclusive; an end that is left out is open. */
export interface CounterRange {
  readonly scope: string;
  readonly from?: number;
  readonly to?: number;
}

/** The parts of a total: counters to sum, and less than a minute at either end in which events are to be counted. */
export interface TotalPlan {
  readonly sums: readonly CounterRange[];
  readonly counts: readonly EventFilter[];
}

/** How to count the events that match a filter without looking at each: one that has no labels and no request. */
export function planTotal(filter: EventFilter): TotalPlan {
  const scopes = countedOf(filter);
  if (filter.from === undefined && filter.to === undefined) {
    return { sums: scopes.map((counted) => ({ scope: eventsCounter(counted, "all") })), counts: [] };
  }
  const plan = { sums: [], counts: [] };
  cover({ filter, scopes, plan }, periodOf(filter), 0);
  return plan;
}

/** The counters that together count the filter's events, without regard to the filter's times. */
export function countedOf({ tenantId, destinationUrlId, statuses, test }: EventFilter): Counted[] {
  const all = destinationUrlId === undefined ? [undefined] : eventStatuses;
  const kinds = test === undefined ? [false, true] : [test];
  return kinds.flatMap((kind) =>
    (statuses ?? all).map((status) => ({ tenantId, destinationUrlId, status, test: kind })));
}

interface Covering {
  readonly filter: EventFilter;
  readonly scopes: readonly Counted[];
  readonly plan: { readonly sums: CounterRange[]; readonly counts: EventFilter[] };
}

/** Covers a period: whole units of a level, and finer ones at the ends. */
function cover(covering: Covering, { from, until }: Period, depth: number): void {
  if (from >= until) return;
  const { filter, scopes, plan } = covering;
  const level = levels[depth];
  if (!level) {
    plan.counts.push({ ...filter, ...boundsOf({ from, until }) });
    return;
  }
  const first = Math.ceil(from / level.ms);
  const end = Math.floor(until / level.ms);
  if (first >= end) {
    cover(covering, { from, until }, depth + 1);
    return;
  }
  cover(covering, { from, until: first * level.ms }, depth + 1);
  for (const counted of scopes) {
    plan.sums.push({
      scope: eventsCounter(counted, level.name),
      ...(first > -Infinity && { from: first }),
      ...(end < Infinity && { to: end - 1 }),
    });
  }
  cover(covering, { from: end * level.ms, until }, depth + 1);
}
