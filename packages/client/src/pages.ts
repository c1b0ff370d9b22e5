import type { Parameters } from "./call.ts";
import type { Listed } from "./types.ts";

/** A page as lists answer it. */
export interface Page {
  /** How many there are on all pages, unless it was not asked for. */
  readonly total?: number;
  readonly items: readonly unknown[];
  /** The cursor of the next page; null behind the last one. */
  readonly nextCursor: string | null;
}

/**
 * Asks for one page at once, and for the pages behind it one by one as a `for await` comes to their items. Each page
 * begins behind the last item of the one before: items that come or go meanwhile move no others.
 */
export function paged(ask: (parameters: Parameters) => Promise<Page>, parameters: Parameters): Listed<Page, unknown> {
  const first = ask(parameters);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      const { Pg: _, ...others } = parameters;
      for (let page = await first; ;) {
        yield* page.items;
        if (page.nextCursor === null) return;
        page = await ask({ ...others, Cursor: page.nextCursor });
      }
    },
  });
}
