import { eventStatuses } from "../../src/features/events/facts.ts";
import { eventsCounter, levels, type Counted } from "./counters.ts";
import { boundsOf, periodOf, type EventFilter, type Period } from "./events.ts";

/** Counters of a scope to sum, between two buckets, both inclusive; an end that is left out is open. */
export interface CounterRange {
  readonly scope: string;
  readonly from?: number;
  readonly to?: number;
}

/** The parts of a total: counters to sum, and less than a minute at either end in which events are to be counted. */
export interface TotalPlan {
  readonly sums: readonly CounterRange[];
  /** The filter, with both ends of a time. */
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
