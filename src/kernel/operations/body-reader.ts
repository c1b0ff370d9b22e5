import type { SchemaObject } from "ajv/dist/2020.js";
import { refuse } from "../domain/refusal.ts";
import { repeatedName, type JsonObject, memberText, parseJsonObject } from "./json-text.ts";
import { shownName, validator } from "./validate.ts";

/** Checks the body of a request against its schema. Throws a Refusal (invalid) that names the field at fault. */
export interface BodyReader<Shape> {
  (body: JsonObject): Shape;
  readonly schema: SchemaObject;
  /** A request without a body counts as one with an empty object. */
  readonly isOptional?: true;
}

/** The reader of a request schema. Where it takes no additional properties, no field may stand there twice. */
export function bodyReader<Shape>(schema: SchemaObject): BodyReader<Shape> {
  const validate = validator<Shape>(schema);
  const closed = isClosed(schema);
  const read = ({ text, value }: JsonObject) => {
    const shape = validate(value);
    const repeated = closed ? repeatedName(text) : undefined;
    if (repeated !== undefined) refuse("invalid", `${shownName(repeated)}: must be given once`);
    return shape;
  };
  return Object.assign(read, { schema });
}

/** The reader of a body that a request may leave out. */
export function optionalBody<Shape>(schema: SchemaObject): BodyReader<Shape> {
  return Object.assign(bodyReader<Shape>(schema), { isOptional: true } as const);
}

/** Whether a schema of a body takes no fields but those that it names. */
export function isClosed(schema: SchemaObject): boolean {
  return schema["additionalProperties"] === false;
}

/** A reader that gives `payload`, an object or its JSON text, as its text: a parsed number would lose digits. */
export function payloadReader<Shape extends { readonly payload?: unknown }>(
  schema: SchemaObject,
): BodyReader<{ readonly [Name in keyof Shape]: Name extends "payload" ? string : Shape[Name] }> {
  const body = bodyReader<Shape>(schema);
  const read = (given: JsonObject) => {
    const { payload, ...rest } = body(given);
    if (payload === undefined) return rest;
    const text = typeof payload === "string" ? payload : memberText(given.text, "payload") ?? "";
    if (!text.isWellFormed()) refuse("invalid", "payload: must be well-formed Unicode");
    return { ...rest, payload: parseJsonObject(Buffer.from(text), "payload").text };
  };
  return Object.assign(read as never, { schema });
}

type Synonyms = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The reader of a request schema that takes other spellings of some values, too. */
export function withSynonyms<Shape>(schema: SchemaObject, synonyms: Synonyms): BodyReader<Shape> {
  const read = bodyReader<Shape>(schema);
  const reading = ({ text, value }: JsonObject) => {
    const fields = Object.entries(synonyms).flatMap(([field, known]) => {
      const given: unknown = Object.getOwnPropertyDescriptor(value, field)?.value;
      const isName = typeof given === "string" || typeof given === "number";
      return isName && Object.hasOwn(known, given) ? [[field, known[given]] as const] : [];
    });
    return read({ text, value: { ...value, ...Object.fromEntries(fields) } });
  };
  return Object.assign(reading, { schema });
}
