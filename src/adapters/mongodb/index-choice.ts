import type { CollectionDefinition, Query } from "../../ports/read-models.ts";
import { columnsOf, orderFieldOf } from "../read-models/indexes.ts";
import { storedName } from "./fields.ts";

/** The keys of an index of MongoDB's. */
export function indexKeys(definition: CollectionDefinition, index: readonly string[]): Record<string, 1> {
  return Object.fromEntries(columnsOf(definition, index).map((field) => [storedName(definition, field), 1 as const]));
}

/** An index for a query. */
export interface IndexChoice {
  readonly keys: Readonly<Record<string, 1>>;
  /** Whether it has the order of those that are equal in the field ordered by, too. */
  readonly isWhole: boolean;
}

/**
 * The index that has the documents of a query next to each other and in its order. Undefined where none has: then
 * MongoDB tries what is best, which depends on the documents.
 */
export function indexFor(
  definition: CollectionDefinition,
  { where = {}, anyOf, range, order }: Query,
): IndexChoice | undefined {
  const isFixed = (field: string) => field in where || field === anyOf?.field;
  const field = orderFieldOf(definition, { where, order });
  if (range && range.field !== field) return undefined;
  let best: { readonly index: readonly string[]; readonly isWhole: boolean; readonly score: number } | undefined;
  for (const index of definition.indexes) {
    const columns = columnsOf(definition, index);
    const fixed = columns.findIndex((column) => !isFixed(column));
    if (columns[fixed] !== field) continue;
    const isWhole = field === definition.key || columns[fixed + 1] === definition.key;
    const score = fixed + (isWhole ? columns.length : 0);
    if (!best || score > best.score) best = { index, isWhole, score };
  }
  return best && { keys: indexKeys(definition, best.index), isWhole: best.isWhole };
}
