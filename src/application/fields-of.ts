/** The fields of an object that a schema names, in the schema's order. */
export function fieldsOf<Shape extends object>(
  { properties }: { readonly properties: Readonly<Record<string, unknown>> }, object: Shape,
): Shape {
  const given = object as Readonly<Record<string, unknown>>;
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) if (given[name] !== undefined) fields[name] = given[name];
  return fields as Shape;
}
