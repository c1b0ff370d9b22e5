import type { Collection } from "../../projections/projection.ts";
import type { Document, ReadModels } from "../ports/read-models.ts";
import type { Freshness } from "./freshness.ts";
import type { Narrowing } from "./scans.ts";

/** Which part of a list is wanted, and in which order. */
export interface PageRequest {
  /** Items per page, 1 to 100. */
  readonly quantity: number;
  /** From 1. */
  readonly page: number;
  readonly order: { readonly field: string; readonly descending: boolean };
}

/** One page of a list, and how long the whole list is. */
export interface Page<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** A page of items that may be large. Its parts are read only as they are iterated, again in each iteration. */
export interface PageInParts<Item> {
  readonly total: number;
  readonly parts: Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;
}

/** A page as the read models are asked for it: `limit` items after the first `offset`. */
export interface Slice {
  readonly order: PageRequest["order"];
  readonly offset: number;
  readonly limit: number;
}

/** The page as a slice. */
export function sliceOf({ quantity, page, order }: PageRequest): Slice {
  return { order, offset: quantity * (page - 1), limit: quantity };
}

/** A page of a list in the read models. A page beyond the end is not looked for: finding its place would cost. */
export async function pageFrom<Item>(
  request: PageRequest,
  total: Promise<number>,
  find: () => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  if (request.page > 1 && sliceOf(request).offset >= (await total)) return { total: await total, items: [] };
  const [items, count] = await Promise.all([find(), total]);
  return { total: count, items };
}

/** A page of a list that was loaded whole, in ascending order. */
export function pageOf<Item>(items: readonly Item[], request: PageRequest): Page<Item> {
  const ordered = request.order.descending ? items.toReversed() : items;
  const { offset, limit } = sliceOf(request);
  return { total: items.length, items: ordered.slice(offset, offset + limit) };
}

/**
 * One page of a collection's documents, each as `view` shows it, at least as new as the moment of the query. A counter
 * has their number; where none does (null), they are counted. Throws a Refusal (unavailable) when the read models are
 * behind.
 */
export function listed<Shape extends Document, Item>(
  { readModels, freshness }: { readonly readModels: ReadModels; readonly freshness: Freshness },
  { name: collection }: Collection<Shape>,
  asked: Narrowing & { readonly counter: string | null; readonly page: PageRequest },
  view: (document: Shape) => Item,
): Promise<Page<Item>> {
  const { counter, page, ...narrowing } = asked;
  const selection = { ...narrowing, collection };
  return freshness.ask(() => {
    const total = counter === null ? readModels.count(selection) : readModels.sum(counter);
    return pageFrom(page, total, async () => {
      const found = await readModels.find({ ...selection, ...sliceOf(page) });
      return (found as readonly Shape[]).map(view);
    });
  });
}
