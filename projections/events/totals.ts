import { eventStatuses } from "../../src/domain/event/events.ts";
import type { Selection } from "../../src/ports/read-models.ts";
import { eventsCounter, levels, type Counted } from "./counters.ts";
import { boundsOf, eventsSelected, periodOf, type EventFilter, type Period } from "./events.ts";

/** Counters of a scope to sum, between two buckets, both inclusive; an end that is left out is open. */
export interface CounterRange {
  readonly scope: string;
  readonly from?: number;
  readonly to?: number;
}

/** The parts of a total: counters to sum, and less than a minute at either end to count in the index. */
export interface TotalPlan {
  readonly sums: readonly CounterRange[];
  readonly counts: readonly Selection[];
}

/** How to count the events that match a filter without looking at each. */
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
export function countedOf({ tenantId, destinationUrlId, status }: EventFilter): Counted[] {
  if (destinationUrlId === undefined || status) return [{ tenantId, destinationUrlId, status }];
  return eventStatuses.map((one) => ({ tenantId, destinationUrlId, status: one }));
}

interface Covering {
  readonly filter: EventFilter;
  readonly scopes: readonly Counted[];
  readonly plan: { readonly sums: CounterRange[]; readonly counts: Selection[] };
}

/** Covers a period: whole units of a level, and finer ones at the ends. */
function cover(covering: Covering, { from, until }: Period, depth: number): void {
  if (from >= until) return;
  const { filter, scopes, plan } = covering;
  const level = levels[depth];
  if (!level) {
    plan.counts.push(eventsSelected({ ...filter, ...boundsOf({ from, until }) }));
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
