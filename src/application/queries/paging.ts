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

/** How many items come before the page. */
export function offsetOf({ quantity, page }: PageRequest): number {
  return quantity * (page - 1);
}

/** The page of a list that is at hand as a whole, in ascending order. */
export function pageOf<Item>(items: readonly Item[], request: PageRequest): Page<Item> {
  const ordered = request.order.descending ? items.toReversed() : items;
  const offset = offsetOf(request);
  return { total: items.length, items: ordered.slice(offset, offset + request.quantity) };
}
