import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answered, Loading } from "./states.tsx";

/** A page of a list, as the relay answers it. */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** How many items of a list are asked for at once: the most that the relay gives. */
const pageSize = 100;

/**
 * A list, page after page by its cursor: `children` gets the items so far, and the next page comes by a button.
 * Without items `empty` is shown.
 */
export function Listed<Item>({ queryKey, ask, empty, children }: {
  readonly queryKey: readonly unknown[];
  readonly ask: (page: { Qt: number; Total: false; Cursor?: string }) => Promise<ListPage<Item>>;
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}): ReactNode {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, "pages"],
    queryFn: ({ pageParam }) =>
      ask({ Qt: pageSize, Total: false, ...(pageParam === null ? {} : { Cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  return (
    <Answered query={query} loading={<Loading lines={4} />}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        return items.length === 0 ? empty : (
          <>
            {children(items)}
            {query.hasNextPage && (
              <p>
                <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Show more
                </button>
              </p>
            )}
          </>
        );
      }}
    </Answered>
  );
}
