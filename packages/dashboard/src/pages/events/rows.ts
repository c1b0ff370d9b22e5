import {
  queryOptions, useQueries, useQuery, useQueryClient, type QueryClient, type UseQueryResult,
} from "@tanstack/react-query";
import type { Moved } from "@webhook-relay/client";
import { useRef, useState } from "react";
import { relay } from "../../api/relay.ts";
import { useStream } from "../../live/stream.ts";
import { useThrottled } from "../../live/throttled.ts";
import type { Filter, Item } from "./filters.ts";
import { moved } from "./moves.ts";
import type { Place } from "./places.ts";

/** Rows of a page: the most that the relay gives. */
export const pageSize = 100;
/** The list ends here: browsers end at 33,554,428 px, or 986,000 rows. */
export const mostRows = 100_000;
/** How long frames are gathered before rows change, ms. */
export const gatherMs = 100;
/** How often the newest page is asked for at most, ms; and at least, for frames that were missed. */
export const freshMs = 250;
const freshAtLeastMs = 30_000;
/** How long pages that are not shown are kept, ms. */
const keptMs = 30_000;

/** The order of the list, and the form of its items. */
export const order = { View: "summary", CpOrd: "acceptedAt", TpOrd: "Desc" } as const;

interface RowsPage {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  /** The `To` of its request, which its cursor is bound to. */
  readonly to: string | undefined;
}

/** The rows of the list: newest first, up to the newest event there was when it was loaded. */
interface Rows {
  /** The answer with the first rows, for its states. */
  readonly first: UseQueryResult<RowsPage>;
  readonly count: number;
  /** How many events match; undefined while they are being counted. */
  readonly total: number | undefined;
  /** How many newer events match; at most a page of them is counted. */
  readonly fresh: number;
  /** When the newest row was accepted; undefined without rows. */
  readonly newest: string | undefined;
  /** The row at a place from 0; undefined while it is being loaded. */
  readonly at: (index: number) => Item | undefined;
  /** Loads the rows between two places. */
  readonly show: (first: number, last: number) => void;
}

/** Loads the rows that match a filter. They stay where they are: each changes in place by the stream. */
export function useRows(filter: Filter, place: Place): Rows {
  const queries = useQueryClient();
  const [shown, setShown] = useState({ first: 0, last: 0 });
  const key = ["listEvents", filter, place.load];
  const pageOf = (page: number) => queryOptions({
    queryKey: [...key, "page", page],
    queryFn: ({ signal }) => askPage(queries, { filter, key, page, newest: place.newest }, signal),
    staleTime: Infinity,
    gcTime: keptMs,
  });
  const first = useQuery(pageOf(0));
  const newest = first.data?.items[0]?.acceptedAt;
  place.newest ??= newest;
  const pages = Array.from({ length: shown.last - shown.first + 1 }, (_, index) => shown.first + index);
  const answers = useQueries({ queries: first.data ? pages.map(pageOf) : [] });
  const known = new Map(pages.map((page, index) => [page, answers[index]?.data]));
  known.set(0, first.data);
  const total = useTotal(filter, key, first.data);
  return {
    first,
    count: countOf(known, total),
    total,
    fresh: useFresh(queries, { filter, key }, first.data),
    newest,
    at: (index) => known.get(Math.floor(index / pageSize))?.items[index % pageSize],
    show: (from, to) => {
      const next = { first: Math.floor(from / pageSize), last: Math.floor(to / pageSize) };
      if (next.first !== shown.first || next.last !== shown.last) setShown(next);
    },
  };
}

interface FilteredList {
  readonly filter: Filter;
  readonly key: readonly unknown[];
}

/** Goes on by the cursor of the page before where that is known; elsewhere it asks by number, with `To` fixed. */
async function askPage(
  queries: QueryClient,
  { filter, key, page, newest }: FilteredList & { readonly page: number; readonly newest: string | undefined },
  signal: AbortSignal,
): Promise<RowsPage> {
  const pageAt = (number: number) => queries.getQueryData<RowsPage>([...key, "page", number]);
  const to = filter.To ?? newest ?? pageAt(0)?.items[0]?.acceptedAt;
  const before = page === 0 ? undefined : pageAt(page - 1);
  if (before?.nextCursor === null) return { items: [], nextCursor: null, to };
  const place = before
    ? { To: before.to, Cursor: before.nextCursor }
    : { To: to, Pg: page + 1 };
  const asked = { ...filter, ...order, ...place, Qt: pageSize, Total: false } as Filter;
  const { items, nextCursor } = await relay.listEvents(asked, { signal });
  return { items: items as readonly Item[], nextCursor, to: place.To };
}

function useTotal(filter: Filter, key: readonly unknown[], first: RowsPage | undefined): number | undefined {
  const { data } = useQuery({
    queryKey: [...key, "total"],
    queryFn: async ({ signal }) => {
      const To = filter.To ?? first?.items[0]?.acceptedAt;
      const asked = { ...filter, ...order, ...(To !== undefined && { To }), Qt: 1 };
      return (await relay.listEvents(asked, { signal })).total;
    },
    enabled: first !== undefined && first.nextCursor !== null,
  });
  return first?.nextCursor === null ? first.items.length : data;
}

/** The number of rows: the total, unless a page shows that the list ends before. */
function countOf(known: ReadonlyMap<number, RowsPage | undefined>, total: number | undefined): number {
  let least = 0;
  for (const [page, data] of known) {
    if (!data) continue;
    const end = page * pageSize + data.items.length;
    if (data.nextCursor === null && data.items.length > 0) return Math.min(end, mostRows);
    least = Math.max(least, data.nextCursor === null ? end : end + 1);
  }
  return Math.min(total ?? least, mostRows);
}

/** Counts newer events that match, and changes rows in place, both by the stream. */
function useFresh(queries: QueryClient, { filter, key }: FilteredList, first: RowsPage | undefined): number {
  const freshKey = [...key, "fresh"];
  const { data } = useQuery({
    queryKey: freshKey,
    queryFn: async ({ signal }) => {
      const { items } = await relay.listEvents({ ...filter, ...order, Qt: pageSize, Total: false }, { signal });
      return items as readonly Item[];
    },
    enabled: first !== undefined && filter.To === undefined,
    refetchInterval: freshAtLeastMs,
  });
  const waiting = useRef<Moved[]>([]);
  const changeRows = () => {
    const facts = Map.groupBy(waiting.current.splice(0), ({ eventId }) => eventId);
    const change = (item: Item) => (facts.get(item.id) ?? []).reduce(moved, item);
    queries.setQueriesData<RowsPage>({ queryKey: [...key, "page"] }, (page) =>
      page?.items.some(({ id }) => facts.has(id)) ? { ...page, items: page.items.map(change) } : page);
  };
  const changesRows = useThrottled(changeRows, gatherMs);
  const asksNewest = useThrottled(() => queries.invalidateQueries({ queryKey: freshKey }), freshMs);
  useStream(["event"], (frame) => {
    if (frame.event === "gone" || frame.event === "lagged") void queries.invalidateQueries({ queryKey: key });
    if (frame.event !== "moved") return;
    waiting.current.push(frame.data);
    changesRows();
    if (mayBeNew(frame.data, filter)) asksNewest();
  });
  return first && data ? newerThan(first, data) : 0;
}

/** Whether a fact is about an event that a filter may match from now on. */
export function mayBeNew({ from, to, destinationUrlId }: Moved, { Status, DestinationUrlId }: Filter): boolean {
  if (DestinationUrlId !== undefined && DestinationUrlId !== destinationUrlId) return false;
  return Status === undefined ? from === null : Status.includes(to);
}

/** How many events of the newest page now are neither on the first page that was loaded nor behind it. */
function newerThan(first: RowsPage, now: readonly Item[]): number {
  const listed = new Set(first.items.map(({ id }) => id));
  const last = first.nextCursor === null ? "" : first.items.at(-1)?.acceptedAt ?? "";
  return now.filter(({ id, acceptedAt }) => !listed.has(id) && acceptedAt > last).length;
}
