import type { Document as Stored, Filter } from "mongodb";
import type { CollectionDefinition, FieldValue, Selection } from "../../kernel/ports/read-models.ts";
import { kindOf, unmatched } from "../../kernel/read-models/engine/fields.ts";
import type { Beyond } from "../../kernel/read-models/engine/places.ts";
import { encode, storedName, type StoredValue } from "./fields.ts";

/** The conditions a selection means, and one more: all of them hold. Null where nothing can satisfy them. */
export function conditionsOf(
  definition: CollectionDefinition, selection: Selection, beyond?: Beyond,
): Filter<Stored>[] | null {
  const { where = {}, anyOf, range } = selection;
  const conditions: Filter<Stored>[] = [];
  for (const [field, value] of Object.entries(where)) {
    const encoded = encode(kindOf(definition, field), value);
    if (encoded === unmatched) return null;
    conditions.push({ [storedName(definition, field)]: encoded });
  }
  if (anyOf) {
    const kind = kindOf(definition, anyOf.field);
    const values = anyOf.values.map((value) => encode(kind, value)).filter((value) => value !== unmatched);
    conditions.push({ [storedName(definition, anyOf.field)]: { $in: values } });
  }
  if (range) {
    const bounds = boundsOf(definition, range);
    if (!bounds) return null;
    conditions.push({ [storedName(definition, range.field)]: bounds });
  }
  if (beyond) {
    const encoded = encode(kindOf(definition, beyond.field), beyond.value);
    if (encoded === unmatched) return null;
    const operator = encoded === null ? "$ne" : beyond.operator === "<" ? "$lt" : "$gt";
    conditions.push({ [storedName(definition, beyond.field)]: { [operator]: encoded } });
  }
  return conditions;
}

/** MongoDB compares values of one type only, so null is within no bounds. */
function boundsOf(definition: CollectionDefinition, { field, from, to }: NonNullable<Selection["range"]>) {
  const kind = kindOf(definition, field);
  const bounds: Record<string, StoredValue> = {};
  for (const [operator, value] of [["$gte", from], ["$lte", to]] as [string, FieldValue | undefined][]) {
    if (value === undefined) continue;
    const encoded = encode(kind, value);
    if (encoded === unmatched || encoded === null) return null;
    bounds[operator] = encoded;
  }
  return from === undefined && to === undefined ? { $ne: null } : bounds;
}

/** Conditions as one filter, flat where possible: not every query planner sees through nested ones. */
export function all(conditions: readonly Filter<Stored>[]): Filter<Stored> {
  const flat: Filter<Stored> = {};
  const others: Filter<Stored>[] = [];
  for (const condition of conditions) {
    if (Object.keys(condition).some((field) => field in flat)) others.push(condition);
    else Object.assign(flat, condition);
  }
  return others.length > 0 ? { ...flat, $and: others } : flat;
}
