import type { SQLInputValue } from "node:sqlite";
import type { CollectionDefinition, FieldValue, Selection } from "../../../../src/kernel/ports/read-models.ts";
import { kindOf, unmatched } from "../../../../src/kernel/read-models/engine/fields.ts";
import type { Beyond } from "../../../../src/kernel/read-models/engine/places.ts";
import { encode, quoted } from "./columns.ts";

/** A condition in SQL, with the values of its placeholders. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * The condition of a selection; null where no document can satisfy it. `inOrder`: SQLite is to use an index for the
 * order, which is by another field, and not for the range; it uses none for a term of `+column`. `beyond`: one more
 * condition.
 */
export function conditionOf(
  definition: CollectionDefinition,
  selection: Selection,
  { inOrder = false, beyond }: { readonly inOrder?: boolean; readonly beyond?: Beyond | undefined } = {},
): Condition | null {
  const { where = {}, anyOf, range } = selection;
  const parts: Condition[] = [];
  for (const [field, value] of Object.entries(where)) {
    const encoded = encode(kindOf(definition, field), value);
    if (encoded === unmatched) return null;
    parts.push({ sql: `${quoted(field)} IS ?`, values: [encoded] });
  }
  if (anyOf) parts.push(oneOf(definition, anyOf.field, anyOf.values));
  if (range) {
    const column = inOrder ? `+${quoted(range.field)}` : quoted(range.field);
    for (const [operator, value] of [[">=", range.from], ["<=", range.to]] as const) {
      if (value === undefined) continue;
      const encoded = encode(kindOf(definition, range.field), value);
      if (encoded === unmatched || encoded === null) return null;
      parts.push({ sql: `${column} ${operator} ?`, values: [encoded] });
    }
    parts.push({ sql: `${column} IS NOT NULL`, values: [] });
  }
  if (beyond) {
    const encoded = encode(kindOf(definition, beyond.field), beyond.value);
    if (encoded === unmatched) return null;
    const column = quoted(beyond.field);
    parts.push(encoded === null
      ? { sql: `${column} IS NOT NULL`, values: [] }
      : { sql: `${column} ${beyond.operator} ?`, values: [encoded] });
  }
  return {
    sql: parts.map((part) => part.sql).join(" AND ") || "TRUE",
    values: parts.flatMap((part) => part.values),
  };
}

function oneOf(definition: CollectionDefinition, field: string, values: readonly FieldValue[]): Condition {
  const encoded = values.map((value) => encode(kindOf(definition, field), value));
  const known = encoded.filter((value) => value !== unmatched && value !== null);
  const sql = `${quoted(field)} IN (${known.map(() => "?").join(", ")})`;
  return { sql: encoded.includes(null) ? `(${sql} OR ${quoted(field)} IS NULL)` : sql, values: known };
}
