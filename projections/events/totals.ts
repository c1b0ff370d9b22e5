import { millis, timestamp } from "../../src/domain/time.ts";
import type { Selection } from "../../src/ports/read-models.ts";
import { eventsCounter, levels } from "./counters.ts";
import { eventsSelected, type EventFilter } from "./events.ts";

/** Counters of a scope to sum, from and to bucket, both inclusive; without an end where it is left out. */
export interface CounterRange {
  readonly scope: string;
  readonly from?: number;
  readonly to?: number;
}

/** What makes up a total: counters to sum, and the less than a minute at either end to count in the index. */
export interface TotalPlan {
  readonly sums: readonly CounterRange[];
  readonly counts: readonly Selection[];
}

/** How to know the number of events a filter means without looking at each: at most 5 sums and 2 counts. */
export function planTotal(filter: EventFilter): TotalPlan {
  if (filter.from === undefined && filter.to === undefined) {
    return { sums: [{ scope: eventsCounter(filter, "all") }], counts: [] };
  }
  const from = filter.from === undefined ? -Infinity : millis(filter.from);
  const until = filter.to === undefined ? Infinity : millis(filter.to) + 1;
  const plan = { sums: [], counts: [] };
  cover(filter, from, until, 0, plan);
  return plan;
}

/** Covers the time from `from` up to, not including, `until` with whole units of a level, and finer ones at the ends. */
function cover(
  filter: EventFilter,
  from: number,
  until: number,
  depth: number,
  plan: { readonly sums: CounterRange[]; readonly counts: Selection[] },
): void {
  if (from >= until) return;
  const level = levels[depth];
  if (!level) {
    plan.counts.push(eventsSelected({ ...filter, from: timestamp(from), to: timestamp(until - 1) }));
    return;
  }
  const first = Math.ceil(from / level.ms);
  const end = Math.floor(until / level.ms);
  if (first >= end) {
    cover(filter, from, until, depth + 1, plan);
    return;
  }
  cover(filter, from, first * level.ms, depth + 1, plan);
  plan.sums.push({
    scope: eventsCounter(filter, level.name),
    ...(first > -Infinity && { from: first }),
    ...(end < Infinity && { to: end - 1 }),
  });
  cover(filter, end * level.ms, until, depth + 1, plan);
}
