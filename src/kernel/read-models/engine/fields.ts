import type { CollectionDefinition, FieldKind } from "../../ports/read-models.ts";

/** A value no field holds: conditions with it select nothing. */
export const unmatched = Symbol("unmatched");

/** The kind of a field. Throws a TypeError where the collection has no such field. */
export function kindOf(definition: CollectionDefinition, field: string): FieldKind {
  const kind = definition.fields[field];
  if (!kind) throw new TypeError(`${definition.name} has no field ${field}`);
  return kind;
}
