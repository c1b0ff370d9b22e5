import type { PageRequest } from "../../src/kernel/read-models/paging.ts";

/** A request for a page of a list with its total, as the API makes one. */
export function pageRequest(
  { quantity, page = 1, order }: Pick<PageRequest, "quantity" | "order"> & { readonly page?: number },
): PageRequest {
  return { quantity, page, order, total: true, list: "any" };
}
