import type { Page, PageInParts } from "../../src/kernel/read-models/paging.ts";

/** A page with its total, and all its parts. Rejects when one of them does. */
export async function whole<Item>(
  { total, parts, nextCursor }: PageInParts<Item>,
): Promise<Page<Item> & { readonly total: number }> {
  return { total: total!, items: (await Array.fromAsync(parts)).flat(), nextCursor };
}
