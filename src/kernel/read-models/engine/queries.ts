import type { CollectionDefinition, FieldKind, Query, FieldValue } from "../../ports/read-models.ts";

export const lowestBucket = Number.MIN_SAFE_INTEGER;
export const highestBucket = Number.MAX_SAFE_INTEGER;

/** A value that no field holds: conditions with it select nothing. */
export const unmatched = Symbol("unmatched");

export function kindOf(definition: CollectionDefinition, field: string): FieldKind {
  const kind = definition.fields[field];
  if (!kind) throw new TypeError(`${definition.name} has no field ${field}`);
  return kind;
}

/** An index's fields, then the key, which orders pages. */
export function columnsOf(definition: CollectionDefinition, index: readonly string[]): readonly string[] {
  return index.includes(definition.key) ? index : [...index, definition.key];
}

/** The field that orders a query: the key if `where` fixes the given field. */
export function orderFieldOf(
  definition: CollectionDefinition, { where, order }: Pick<Query, "where" | "order">,
): string {
  return where && order.field in where ? definition.key : order.field;
}

export interface Beyond {
  readonly field: string;
  readonly operator: "<" | ">";
  readonly value: FieldValue;
}

export interface Part {
  readonly query: Query;
  readonly beyond?: Beyond;
}

/** Splits a query with `after` into ranges of one index: documents with the same value, then the others. */
export function partsOf(definition: CollectionDefinition, { after, ...query }: Query): readonly Part[] {
  if (!after) return [{ query }];
  const { descending } = query.order;
  const operator = descending ? "<" : ">";
  const field = orderFieldOf(definition, query);
  const behind = (one: Query, beyond: Beyond) => ({ query: within(one, beyond), beyond });
  const { value, key } = after;
  if (field === definition.key) return [behind(query, { field, operator, value: key })];
  const withValue = (equal: FieldValue): Query => ({ ...query, where: { ...query.where, [field]: equal } });
  const ties = behind(withValue(value), { field: definition.key, operator, value: key });
  if (value === null) return descending ? [ties] : [ties, behind(query, { field, operator, value })];
  const others = behind(query, { field, operator, value });
  return descending ? [ties, others, { query: withValue(null) }] : [ties, others];
}

/** Drops the end of a range that the condition makes redundant: an engine might use it instead. */
function within(query: Query, { field, operator, value }: Beyond): Query {
  const { range, ...others } = query;
  if (range?.field !== field || value === null) return query;
  const { from, to, ...rest } = range;
  const end = operator === "<" ? to : from;
  const isNeedless = end === undefined || end === null || (operator === "<" ? value <= end : value >= end);
  if (!isNeedless) return query;
  const kept = operator === "<" ? from !== undefined && { from } : to !== undefined && { to };
  return { ...others, range: { ...rest, ...kept } };
}
