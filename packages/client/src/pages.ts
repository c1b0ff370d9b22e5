import type { Parameters } from "./call.ts";
import type { Listed } from "./types.ts";

/** A page as lists answer it. */
export interface Page {
  /** How many there are on all pages. */
  readonly total: number;
  readonly items: readonly unknown[];
}

/**
 * Asks for one page at once, and for the pages behind it one by one as a `for await` comes to their items. Pages are
 * counted from the newest or oldest item: where items come or go meanwhile, one may be met twice, or not at all.
 */
export function paged(ask: (parameters: Parameters) => Promise<Page>, parameters: Parameters): Listed<Page, unknown> {
  const first = ask(parameters);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      let number = Number(parameters["Pg"] ?? 1);
      let page = await first;
      const size = Number(parameters["Qt"] ?? page.items.length);
      for (;;) {
        yield* page.items;
        if (page.items.length === 0 || number * size >= page.total) return;
        number += 1;
        page = await ask({ ...parameters, Pg: number });
      }
    },
  });
}
