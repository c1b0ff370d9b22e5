import { refuse } from "../domain/refusal.ts";
import type { Document, FieldValue, PlaceInOrder, Query, ReadModels, Collection } from "../ports/read-models.ts";
import { sha256 } from "../tools/hashing.ts";
import type { Freshness } from "./freshness.ts";
import type { Narrowing } from "./scans.ts";

/** Which part of a list is wanted, and in which order. */
export interface PageRequest {
  readonly quantity: number;
  /** From 1; counts only without `after`. */
  readonly page: number;
  readonly after?: PlaceInOrder | undefined;
  readonly order: { readonly field: string; readonly descending: boolean };
  readonly total: boolean;
  /** Names the list, its filters and its order: a cursor is good for one list only. */
  readonly list: string;
}

/** The part of a page that says how long the list is, and where its next page begins. */
export interface PageEnds {
  readonly total?: number | undefined;
  /** The cursor of the next page; null where this page is the last. */
  readonly nextCursor: string | null;
}

/** One page of a list. */
export interface Page<Item> extends PageEnds {
  readonly items: readonly Item[];
}

/** A page of items that may be large. Its parts are read only as they are iterated, again in each iteration. */
export interface PageInParts<Item> extends PageEnds {
  readonly parts: Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;
}

/** The order and place of a page as the read models are asked for it, and one item more: it tells if there are any. */
export type Slice = Pick<Query, "order" | "offset" | "after" | "limit">;

/** The page as a slice. */
export function sliceOf({ quantity, page, after, order }: PageRequest): Slice {
  return { order, ...(after ? { after } : { offset: quantity * (page - 1) }), limit: quantity + 1 };
}

/** The page's items from those of its {@link sliceOf}, and the cursor of the next page. */
export function cut<Item>(
  { quantity, list }: PageRequest, found: readonly Item[], placeOf: (item: Item) => PlaceInOrder,
): Pick<Page<Item>, "items" | "nextCursor"> {
  const items = found.slice(0, quantity);
  const last = found.length > quantity ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : cursorOf(list, placeOf(last)) };
}

/** The parts of a list in the read models; `find` finds the items of a slice. */
export interface List<Item> {
  readonly count: () => Promise<number>;
  readonly find: (slice: Slice) => Promise<readonly Item[]>;
  readonly placeOf: (item: Item) => PlaceInOrder;
}

/** A page of a list. A page beyond the end is not looked for; the list is counted only where its length is wanted. */
export async function pageFrom<Item>(request: PageRequest, { count, find, placeOf }: List<Item>): Promise<Page<Item>> {
  const slice = sliceOf(request);
  const isFar = (slice.offset ?? 0) > 0;
  const counting = request.total || isFar ? count() : undefined;
  const lengthOf = (total: number | undefined) => (request.total ? { total } : {});
  if (isFar) {
    const total = await counting;
    if (slice.offset! >= total!) return { ...lengthOf(total), items: [], nextCursor: null };
  }
  const [found, total] = await Promise.all([find(slice), counting]);
  return { ...lengthOf(total), ...cut(request, found, placeOf) };
}

/** A page of a list that was loaded whole, in ascending order of the numbers that `numberOf` returns. */
export function pageOf<Item>(
  items: readonly Item[], request: PageRequest, numberOf: (item: Item) => number,
): Page<Item> {
  const ordered = request.order.descending ? items.toReversed() : items;
  const { offset = 0, limit } = sliceOf(request);
  const after = numberedPlace(request);
  const isBehind = (item: Item) =>
    after === undefined || (request.order.descending ? numberOf(item) < after : numberOf(item) > after);
  const found = ordered.filter(isBehind).slice(offset, offset + limit);
  const total = request.total ? { total: items.length } : {};
  return { ...total, ...cut(request, found, (item) => placeOfNumber(numberOf(item))) };
}

/** The place of an item in a list ordered by a number of its own. */
export function placeOfNumber(number: number): PlaceInOrder {
  return { value: number, key: number };
}

/** The number behind which a page of such a list begins; undefined without a cursor. */
export function numberedPlace({ after }: PageRequest): number | undefined {
  if (after === undefined) return undefined;
  return Number.isSafeInteger(after.key) && (after.key as number) >= 0 ? (after.key as number) : refuseCursor();
}

/** One page of a collection's documents as `view` shows them. A counter has their number, or else they are counted. */
export function listed<Shape extends Document, Item>(
  { readModels, freshness }: { readonly readModels: ReadModels; readonly freshness: Freshness },
  { name: collection, key }: Collection<Shape>,
  asked: Narrowing & { readonly counter: string | null; readonly page: PageRequest },
  view: (document: Shape) => Item | Promise<Item>,
): Promise<Page<Item>> {
  const { counter, page: request, ...narrowing } = asked;
  const selection = { ...narrowing, collection };
  return freshness.ask(async () => {
    const page = await pageFrom<Shape>(request, {
      count: () => (counter === null ? readModels.count(selection) : readModels.sum(counter)),
      find: async (slice) => (await readModels.find({ ...selection, ...slice })) as readonly Shape[],
      placeOf: (document) => ({ value: document[request.order.field] ?? null, key: document[key] as string }),
    });
    return { ...page, items: await Promise.all(page.items.map(view)) };
  });
}

const checkCharacters = 16;

/** The cursor of a place in a list: opaque, and good for this list only. */
export function cursorOf(list: string, { value, key }: PlaceInOrder): string {
  return Buffer.from(JSON.stringify([checkOf(list, value, key), value, key])).toString("base64url");
}

/** The place of a cursor. Throws a Refusal (invalid) unless {@link cursorOf} made it for this list. */
export function placeOf(list: string, cursor: string): PlaceInOrder {
  const place = read(cursor);
  return place && cursorOf(list, place) === cursor ? place : refuseCursor();
}

function read(cursor: string): PlaceInOrder | undefined {
  try {
    const text = Buffer.from(cursor, "base64url").toString();
    const [, value, key] = JSON.parse(text) as readonly [string, ...FieldValue[]];
    return isScalar(value) && isScalar(key) ? { value, key } : undefined;
  } catch {
    return undefined;
  }
}

function isScalar(value: FieldValue | undefined): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** Binds a place to its list; it keeps no secret. */
function checkOf(list: string, value: FieldValue, key: FieldValue): string {
  return sha256(JSON.stringify([list, value, key])).slice(0, checkCharacters);
}

function refuseCursor(): never {
  refuse("invalid", "Cursor: is not one that this list gave with these filters and in this order");
}
