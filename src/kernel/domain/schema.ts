/** Holds the type of a schema's values for the compiler; no schema has it. */
declare const value: unique symbol;

/** A JSON Schema of values of a type. */
export interface Schema<Value = unknown> {
  readonly type: string | readonly string[];
  readonly [keyword: string]: unknown;
  readonly [value]?: Value;
}

/** The schema of a field that may be missing. */
export interface Optional<Value = unknown> {
  readonly optional: Schema<Value>;
}

/** The fields of an object, in the order in which they are written and published. */
export type Fields = Readonly<Record<string, Schema | Optional>>;

/** The values that a schema lets through. */
export type ValueOf<S> = S extends Schema<infer Value> ? Value : S extends Optional<infer Value> ? Value : never;

type OptionalName<F> = { [Name in keyof F]: F[Name] extends Optional ? Name : never }[keyof F];

/** An object with these fields. */
export type ObjectOf<F> = Simplified<
  & { [Name in Exclude<keyof F, OptionalName<F>>]: ValueOf<F[Name]> }
  & { [Name in OptionalName<F>]?: ValueOf<F[Name]> }
>;
type Simplified<T> = { [Name in keyof T]: T[Name] };

/** A text of at least one character. */
export function text<Value extends string = string>(description?: string): Schema<Value> {
  return described({ type: "string", minLength: 1 }, description);
}

/** A text that may be empty. */
export function anyText(description?: string): Schema<string> {
  return described({ type: "string" }, description);
}

/** A text that matches a regular expression. */
export function matching(pattern: string, description?: string): Schema<string> {
  return described({ type: "string", pattern }, description);
}

/** A text that is encrypted or wrapped: no address and no clear secret has its form. */
export function sealed(description: string): Schema<string> {
  return matching("^[\\w.-]+$", description);
}

export const httpsUrl: Schema<string> = matching("^[Hh][Tt][Tt][Pp][Ss]://");

/** A UUID in lower case. */
export function uuid(description?: string): Schema<string> {
  return described({ type: "string", format: "uuid" }, description);
}

/** A Timestamp. */
export function time(description?: string): Schema<string> {
  return described({ type: "string", format: "date-time" }, description);
}

/** One of several texts. */
export function oneOf<const Value extends string>(values: readonly Value[], description?: string): Schema<Value> {
  return described({ type: "string", enum: values }, description);
}

/** A whole number of at least `minimum`, at most `maximum` where that is given. */
export function integer(minimum: number, description?: string, maximum?: number): Schema<number> {
  return described({ type: "integer", minimum, ...(maximum !== undefined && { maximum }) }, description);
}

/** A number of at least `minimum`. */
export function number(minimum: number, description?: string): Schema<number> {
  return described({ type: "number", minimum }, description);
}

/** True or false. */
export function boolean<Value extends boolean = boolean>(description?: string): Schema<Value> {
  return described({ type: "boolean" }, description);
}

/** True, where it is there at all. */
export function always(description: string): Schema<true> {
  return described({ const: true, type: "boolean" }, description);
}

/** Texts by names of any kind. */
export function texts(description?: string): Schema<Readonly<Record<string, string>>> {
  return described({ type: "object", additionalProperties: { type: "string" } }, description);
}

/** Values of one kind by names of any kind. */
export function values<Value>(schema: Schema<Value>, description?: string): Schema<Readonly<Record<string, Value>>> {
  return described({ type: "object", additionalProperties: schema }, description);
}

/** A JSON object of any form. */
export function anyObject(description?: string): Schema<Readonly<Record<string, unknown>>> {
  return described({ type: "object", additionalProperties: true }, description);
}

/** A list of items of one kind, at least `minItems` where that is given. */
export function list<Item>(
  items: Schema<Item>, description?: string, minItems?: number,
): Schema<readonly Item[]> {
  return described({ type: "array", items, ...(minItems !== undefined && { minItems }) }, description);
}

/** An object with these fields and no other. */
export function object<F extends Fields>(fields: F, description?: string): Schema<Readonly<ObjectOf<F>>> {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const isOptional = "optional" in field;
    properties[name] = isOptional ? (field as Optional).optional : field;
    if (!isOptional) required.push(name);
  }
  return { ...described({ type: "object" }, description), additionalProperties: false, required, properties };
}

/** A value of exactly one of two schemas. */
export function either<One, Other>(
  one: Schema<One>, other: Schema<Other>, description?: string,
): Schema<One | Other> {
  const schema: object = { oneOf: [one, other] };
  return described(schema as Schema, description);
}

/** The same value or null; a description replaces the schema's own. */
export function nullable<Value>(schema: Schema<Value>, description?: string): Schema<Value | null> {
  const values = schema["enum"] as readonly unknown[] | undefined;
  const type = [schema.type, "null"].flat();
  return described({ ...schema, type, ...(values && { enum: [...values, null] }) }, description);
}

/** A field that may be missing. */
export function optional<Value>(schema: Schema<Value>): Optional<Value> {
  return { optional: schema };
}

/** The same schema with another description, if one is given. */
export function described<Value>(schema: Schema, description?: string): Schema<Value> {
  return (description === undefined ? schema : { ...schema, description }) as Schema<Value>;
}
