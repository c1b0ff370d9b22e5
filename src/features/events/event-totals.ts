import pLimit from "p-limit";
import { planTotal, eventsCounter, levels, type Level, countedOf } from "../../../projections/events/counters.ts";
import {
  eventsSelected, isPlain, type EventFilter, boundsOf, periodOf, type Period,
} from "../../../projections/events/events.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { matchingIds } from "./matching-ids.ts";

/** How many destinations of a portal link are asked for at the same time. */
const destinationsAtOnce = 16;

type Counters = Pick<ReadModels, "sum" | "count" | "keys">;

/** A place in a list of events: after the first `offset` of those that match the filter. */
export interface ListPosition {
  readonly filter: EventFilter;
  readonly offset: number;
}

type Counts = Pick<ReadModels, "buckets" | "sum" | "count" | "keys">;

/** Some of the events that match a filter: those accepted in a part of its period, and how many these are. */
interface Part {
  readonly period: Period;
  readonly total: number;
}

/** Runs one step of a walk over many events, when it is its turn. */
export type Stepping = <Result>(step: () => Promise<Result>) => Promise<Result>;

const atOnce: Stepping = (step) => step();

/** How many events match a filter: by counters, or with labels by walking the ids of all that match. */
export async function totalOf(readModels: Counters, filter: EventFilter, stepping: Stepping = atOnce): Promise<number> {
  const { destinationUrlIds, ...rest } = filter;
  if (destinationUrlIds) {
    const totals = await pLimit(destinationsAtOnce).map(destinationUrlIds, (destinationUrlId) =>
      totalOf(readModels, { ...rest, destinationUrlId }, stepping));
    return totals.reduce((sum, total) => sum + total, 0);
  }
  if (!isPlain({ ...filter, test: undefined })) return walked(readModels, filter, stepping);
  const { sums, counts } = planTotal(filter);
  const parts = await Promise.all([
    ...sums.map(({ scope, from, to }) => readModels.sum(scope, from, to)),
    ...counts.map((part) => counted(readModels, part, stepping)),
  ]);
  return parts.reduce((sum, part) => sum + part, 0);
}

/** The same place with less to skip, by counters of hours and minutes; null where the list is too short. */
export async function nearest(
  counts: Counts, { filter, offset }: ListPosition, descending: boolean,
): Promise<ListPosition | null> {
  let left = offset;
  let period = periodOf(filter);
  for (const level of levels) {
    let found: Period | undefined;
    for await (const part of partsOf(counts, filter, period, level, descending)) {
      if (left < part.total) {
        found = part.period;
        break;
      }
      left -= part.total;
    }
    if (!found) return null;
    period = found;
  }
  const { from, to } = boundsOf(period);
  return { filter: { ...filter, ...(descending ? { to } : { from }) }, offset: left };
}

/** Counts events of less than a minute. Test events are few, and have a label: they are counted apart. */
async function counted(readModels: Counters, filter: EventFilter, stepping: Stepping): Promise<number> {
  const { test, ...rest } = filter;
  if (test === true) return walked(readModels, filter, stepping);
  const all = await readModels.count(eventsSelected(rest));
  return test === undefined ? all : all - await walked(readModels, { ...rest, test: true }, stepping);
}

/** Counts events by walking their ids. No index has all but the test events: these are walked and taken off. */
async function walked(readModels: Counters, filter: EventFilter, stepping: Stepping): Promise<number> {
  const { test, ...rest } = filter;
  if (test === false) {
    const all = await walked(readModels, rest, stepping);
    return all === 0 ? 0 : all - await walked(readModels, { ...rest, test: true }, stepping);
  }
  const pages = matchingIds(readModels, { filter, descending: false });
  for (let total = 0; ;) {
    const { value: page } = await stepping(() => pages.next());
    if (!page) return total;
    total += page.length;
  }
}

async function* partsOf(
  counts: Counts, filter: EventFilter, period: Period, level: Level, descending: boolean,
): AsyncGenerator<Part, void> {
  const { ms } = level;
  const [first, end] = [Math.ceil(period.from / ms), Math.floor(period.until / ms)];
  if (first >= end) {
    yield { period, total: Infinity };
    return;
  }
  const edges = [{ from: period.from, until: first * ms }, { from: end * ms, until: period.until }] as const;
  const [before, behind] = descending ? [edges[1], edges[0]] : edges;
  if (!isEmpty(before)) yield { period: before, total: await totalOf(counts, { ...filter, ...boundsOf(before) }) };
  for (const [bucket, total] of await bucketsOf(counts, filter, level, first, end - 1, descending)) {
    yield { period: { from: bucket * ms, until: (bucket + 1) * ms }, total };
  }
  if (!isEmpty(behind)) yield { period: behind, total: Infinity };
}

async function bucketsOf(
  counts: Counts, filter: EventFilter, level: Level, first: number, last: number, descending: boolean,
): Promise<readonly (readonly [bucket: number, total: number])[]> {
  const scopes = countedOf(filter).map((counted) => eventsCounter(counted, level.name));
  const totals = new Map<number, number>();
  const asked = pLimit(destinationsAtOnce).map(scopes, (scope) => counts.buckets(scope, first, last));
  for (const buckets of await asked) {
    for (const { bucket, total } of buckets) totals.set(bucket, (totals.get(bucket) ?? 0) + total);
  }
  const sorted = [...totals].sort(([one], [other]) => one - other);
  return descending ? sorted.reverse() : sorted;
}

function isEmpty({ from, until }: Period): boolean {
  return from >= until;
}
