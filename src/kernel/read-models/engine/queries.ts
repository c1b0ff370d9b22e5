import type { CollectionDefinition, FieldKind, Query, FieldValue } from "../../ports/read-models.ts";

/** Buckets are whole numbers that a number holds exactly. */
export const lowestBucket = Number.MIN_SAFE_INTEGER;
/** See {@link lowestBucket}. */
export const highestBucket = Number.MAX_SAFE_INTEGER;

/** A value no field holds: conditions with it select nothing. */
export const unmatched = Symbol("unmatched");

/** The kind of a field. Throws a TypeError where the collection has no such field. */
export function kindOf(definition: CollectionDefinition, field: string): FieldKind {
  const kind = definition.fields[field];
  if (!kind) throw new TypeError(`${definition.name} has no field ${field}`);
  return kind;
}

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

/** One more condition on a document: the field is less or greater than a value; "greater than null" is "not null". */
export interface Beyond {
  readonly field: string;
  readonly operator: "<" | ">";
  readonly value: FieldValue;
}

/** A query without a place, with a condition in its stead. */
export interface Part {
  readonly query: Query;
  readonly beyond?: Beyond;
}

/**
 * The parts of a query that begins behind a place, in the query's order: the documents with the place's own value, then
 * those with other values. Each part is one range of an index that has the query's order. A query without a place is
 * its only part.
 */
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

/** The query without the end of its range that the condition makes needless: an engine might use that end instead. */
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
