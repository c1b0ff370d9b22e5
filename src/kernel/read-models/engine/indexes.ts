import type { CollectionDefinition, Query } from "../../ports/read-models.ts";

/** The columns of an index: its fields, and the key last where they do not name it, which orders pages. */
export function columnsOf(definition: CollectionDefinition, index: readonly string[]): readonly string[] {
  return index.includes(definition.key) ? index : [...index, definition.key];
}

/** The field that orders a query: the key where `where` fixes the value of the given field. */
export function orderFieldOf(
  definition: CollectionDefinition, { where, order }: Pick<Query, "where" | "order">,
): string {
  return where && order.field in where ? definition.key : order.field;
}
