import type { Page, PageInParts } from "../../src/application/paging.ts";

/** The page with all its parts. Rejects when one of them does. */
export async function whole<Item>({ total, parts }: PageInParts<Item>): Promise<Page<Item>> {
  return { total, items: (await Array.fromAsync(parts)).flat() };
}
