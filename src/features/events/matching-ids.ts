import {
  accepted, events, eventsOrdered, eventsSelected, isOfFinished, type EventFilter,
} from "../../../projections/events/events.ts";
import {
  correlationLabel, eventIdOfKey, eventsLabelled, idsAround, labelsWanted,
} from "../../../projections/events/labels.ts";
import { finishedIds, lateFinishes } from "../../../projections/events/late-finishes.ts";
import { eventsReplayed } from "../../../projections/events/replayed-events.ts";
import type { FieldRange, ReadModels } from "../../kernel/ports/read-models.ts";

type Keys = Pick<ReadModels, "keys">;

interface IdRange {
  readonly from?: string;
  readonly to?: string;
}

interface PageStart {
  readonly begin: string | undefined;
  readonly passed: string | undefined;
}

type IdList = (range: IdRange, limit: number) => Promise<readonly string[]>;

/** A walk over the events that match a filter. */
export interface Walk {
  readonly filter: EventFilter;
  readonly descending: boolean;
  readonly after?: string | undefined;
}

/** Ids of one list in one page, at first and at most: a page of a list needs few, a count needs all. */
const [fewest, most] = [128, 1_024];

/** The ids of events that match, by acceptance, in pages: the intersection of the sorted lists of conditions. */
export async function* matchingIds(
  readModels: Keys, { filter, descending, after }: Walk,
): AsyncGenerator<readonly string[], void> {
  const lists = listsOf(readModels, filter, descending);
  const { from, to } = accepted(filter) as IdRange;
  const [near, far] = descending ? [to, from] : [from, to];
  let start: PageStart | undefined = after !== undefined && isBefore(near, after, descending)
    ? { begin: after, passed: after }
    : { begin: near, passed: after };
  for (let size = fewest; start; size = Math.min(2 * size, most)) {
    const { begin, passed }: PageStart = start;
    const range = descending ? rangeOf(far, begin) : rangeOf(begin, far);
    const { ids, next } = intersection(await Promise.all(lists.map((list) => list(range, size))), size, descending);
    yield ids.filter((id) => id !== passed);
    start = next;
  }
}

/** The ids that all pages have, as far as every page goes, and where to go on; undefined at the end of a list. */
function intersection(
  pages: readonly (readonly string[])[], size: number, descending: boolean,
): { readonly ids: readonly string[]; readonly next?: PageStart } {
  const [first = [], ...others] = pages;
  if (pages.some((page) => page.length === 0)) return { ids: [] };
  const last = (page: readonly string[]) => page.at(-1)!;
  const partial = pages.filter((page) => page.length === size).map(last);
  const bound = partial.reduce<string | undefined>((nearest, id) =>
    nearest === undefined || isBefore(id, nearest, descending) ? id : nearest, undefined);
  const within = (id: string) => bound === undefined || !isBefore(bound, id, descending);
  const sets = others.map((page) => new Set(page));
  const ids = first.filter((id) => within(id) && sets.every((set) => set.has(id)));
  const isThrough = pages.some((page) => page.length < size && within(last(page)));
  if (bound === undefined || isThrough) return { ids };
  const begin = pages.map((page) => page[0]!).reduce((furthest, id) =>
    isBefore(furthest, id, descending) ? id : furthest, bound);
  return { ids, next: { begin, passed: bound } };
}

function listsOf(readModels: Keys, filter: EventFilter, descending: boolean): readonly IdList[] {
  const { tenantId, statuses, destinationUrlId, destinationUrlIds, test, correlationId, replayId } = filter;
  const labelled = (label: string): IdList => async (range, limit) =>
    (await readModels.keys({ ...eventsLabelled(tenantId, label, range, descending), limit })).map(eventIdOfKey);
  const lists = labelsWanted(filter).map(labelled);
  if (correlationId !== undefined) {
    const ofItsTime = ofRequest(readModels, tenantId, correlationId, descending);
    lists.push(merged([labelled(correlationLabel(correlationId)), ofItsTime], descending));
  }
  if (replayId !== undefined) {
    lists.push(async (range, limit) =>
      (await readModels.keys({ ...eventsReplayed(tenantId, replayId, range, descending), limit })).map(eventIdOfKey));
  }
  const isFinished = isOfFinished(filter);
  if (isFinished) lists.push(ofFinished(readModels, filter, descending));
  const ofSome = (destinationUrlId ?? destinationUrlIds) !== undefined;
  const isNarrowed = statuses !== undefined || ofSome || test === false || isFinished;
  if (isNarrowed || lists.length === 0) {
    const order = eventsOrdered(descending);
    const selected = (filter: EventFilter): IdList => (range, limit) =>
      readModels.keys({ ...eventsSelected(filter), range: { field: events.key, ...range }, order, limit });
    lists.push(destinationUrlIds
      ? merged(destinationUrlIds.map((id) => selected({ ...filter, destinationUrlId: id })), descending)
      : selected(filter));
  }
  return lists;
}

/** The events whose documents have the id of their request: accepted about when it was made. */
function ofRequest(readModels: Keys, tenantId: string, correlationId: string, descending: boolean): IdList {
  const around = idsAround(correlationId);
  return async (range, limit) => {
    if (!around) return [];
    const { where, ...selection } = eventsSelected({ tenantId });
    const ids = { field: events.key, ...common(range, around) };
    const order = eventsOrdered(descending);
    return readModels.keys({ ...selection, where: { ...where, correlationId }, range: ids, order, limit });
  };
}

/** The events that were finished in a period: late finishes have an index, others were accepted in or near it. */
function ofFinished(readModels: Keys, filter: EventFilter, descending: boolean): IdList {
  const { tenantId, finishedFrom: from, finishedTo: to } = filter;
  const finishedAt: FieldRange = { field: "finishedAt", ...rangeOf(from, to) };
  const { soon, late } = finishedIds(filter);
  const acceptedNear: IdList = (range, limit) => readModels.keys({
    ...eventsSelected(filter), range: { field: events.key, ...common(range, soon) }, within: finishedAt,
    order: eventsOrdered(descending), limit,
  });
  if (!late) return acceptedNear;
  const acceptedEarlier: IdList = (range, limit) => readModels.keys({
    collection: lateFinishes.name, where: { tenantId }, range: finishedAt,
    within: { field: lateFinishes.key, ...common(range, late) },
    order: { field: lateFinishes.key, descending }, limit,
  });
  return merged([acceptedNear, acceptedEarlier], descending);
}

function merged(lists: readonly IdList[], descending: boolean): IdList {
  return async (range, limit) => {
    const ids = (await Promise.all(lists.map((list) => list(range, limit)))).flat().sort();
    return (descending ? ids.reverse() : ids).slice(0, limit);
  };
}

function isBefore(one: string | undefined, other: string, descending: boolean): boolean {
  return one === undefined || (descending ? one > other : one < other);
}

function rangeOf(from: string | undefined, to: string | undefined): IdRange {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function common(one: IdRange, other: IdRange): IdRange {
  const from = [one.from, other.from].filter((id) => id !== undefined).sort().at(-1);
  const to = [one.to, other.to].filter((id) => id !== undefined).sort()[0];
  return rangeOf(from, to);
}
