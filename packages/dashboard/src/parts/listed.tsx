import { useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answered, Loading } from "./states.tsx";

/** A page of a list, as the relay answers it. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** The parameters of a page: its size, and the cursor that the page before it ended with. */
export interface PageParameters {
  readonly Qt: number;
  readonly Total: false;
  readonly Cursor?: string;
}

/** The pages of a list that are loaded. */
export type Pages<Item> = UseInfiniteQueryResult<readonly Item[]>;

/** Reads a list page after page by its cursor. `refetchInterval` is in ms; a function gets the items so far. */
export function usePages<Item>({ queryKey, ask, size = 100, refetchInterval = false }: {
  readonly queryKey: readonly unknown[];
  readonly ask: (page: PageParameters) => Promise<ListPage<Item>>;
  /** Items of a page; the relay gives 100 at most. */
  readonly size?: number;
  readonly refetchInterval?: number | false | ((items: readonly Item[]) => number | false);
}): Pages<Item> {
  return useInfiniteQuery({
    queryKey: [...queryKey, "pages"],
    queryFn: ({ pageParam }) =>
      ask({ Qt: size, Total: false, ...(pageParam === null ? {} : { Cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    refetchInterval: ({ state: { data } }) => typeof refetchInterval === "function"
      ? refetchInterval(data?.pages.flatMap(({ items }) => items) ?? []) : refetchInterval,
  });
}

/** The items of a list, and the button that loads its next page. Without items `empty` is shown. */
export function Listed<Item>({ pages, empty, children }: {
  readonly pages: Pages<Item>;
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}): ReactNode {
  return (
    <Answered query={pages} loading={<Loading lines={4} />}>
      {(items) => items.length === 0 ? empty : (
        <>
          {children(items)}
          {pages.hasNextPage && (
            <p>
              <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Show more
              </button>
            </p>
          )}
        </>
      )}
    </Answered>
  );
}
