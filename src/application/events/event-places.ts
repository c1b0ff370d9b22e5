import { eventsCounter, levels } from "../../../projections/events/counters.ts";
import { boundsOf, periodOf, type EventFilter } from "../../../projections/events/events.ts";
import { countedOf } from "../../../projections/events/totals.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { totalOf } from "./event-totals.ts";

/** A place in a list of events: after the first `offset` of those that match the filter. */
export interface Place {
  readonly filter: EventFilter;
  readonly offset: number;
}

/**
 * The same place with less to skip, however far down the list: the filter begins, in the list's direction, less than
 * two minutes of acceptance before the place. Null where, by the counters, the list is too short. Looks at a counter
 * for each hour of the filter's time, and for each minute of one hour.
 */
export async function nearest(
  readModels: Pick<ReadModels, "buckets" | "sum" | "count">, { filter, offset }: Place, descending: boolean,
): Promise<Place | null> {
  const counted = countedOf(filter);
  /** How many events each hour or minute has, in the list's direction. */
  const totalsOf = async (level: (typeof levels)[number]["name"], first: number, last: number) => {
    const totals = new Map<number, number>();
    const scopes = counted.map((one) => eventsCounter(one, level));
    for (const buckets of await Promise.all(scopes.map((scope) => readModels.buckets(scope, first, last)))) {
      for (const { bucket, total } of buckets) totals.set(bucket, (totals.get(bucket) ?? 0) + total);
    }
    const sorted = [...totals].sort(([one], [other]) => one - other);
    return descending ? sorted.reverse() : sorted;
  };

  // By hours to the hour of the place, then by minutes to its minute; what does not fill one is counted as it is.
  let left = offset;
  let within = periodOf(filter);
  for (const { name, ms } of levels) {
    const [first, end] = [Math.ceil(within.from / ms), Math.floor(within.until / ms)];
    if (first >= end) continue;
    const edges = [{ from: within.from, until: first * ms }, { from: end * ms, until: within.until }] as const;
    const [before, behind] = descending ? [edges[1], edges[0]] : edges;
    const inBefore = before.from < before.until ? await totalOf(readModels, { ...filter, ...boundsOf(before) }) : 0;
    if (left < inBefore) {
      within = before;
      continue;
    }
    left -= inBefore;
    within = behind;
    for (const [bucket, total] of await totalsOf(name, first, end - 1)) {
      if (left < total) {
        within = { from: bucket * ms, until: (bucket + 1) * ms };
        break;
      }
      left -= total;
    }
    if (within.from >= within.until) return null;
  }
  const { from, to } = boundsOf(within);
  return { filter: { ...filter, ...(descending ? { to } : { from }) }, offset: left };
}
