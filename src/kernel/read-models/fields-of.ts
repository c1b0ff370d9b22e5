/** The fields of an object that a schema names, in the schema's order. */
export function fieldsOf<Shape extends object, Name extends string = string>(
  { properties }: { readonly properties: Readonly<Record<Name, unknown>> }, object: Shape,
): Pick<Shape, keyof Shape & Name> {
  const given = object as Readonly<Record<string, unknown>>;
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) if (given[name] !== undefined) fields[name] = given[name];
  return fields as Pick<Shape, keyof Shape & Name>;
}
