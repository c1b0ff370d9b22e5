import type { Page, PageInParts } from "../../src/application/paging.ts";

/** The page with all its parts. Throws what they throw. */
export async function whole<Item>({ total, parts }: PageInParts<Item>): Promise<Page<Item>> {
  return { total, items: (await Array.fromAsync(parts)).flat() };
}
