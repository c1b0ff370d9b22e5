import type { SchemaObject } from "ajv/dist/2020.js";
import { refuse } from "../domain/refusal.ts";
import { repeatedName, type JsonObject } from "./json-text.ts";
import { shownName, validator } from "./validate.ts";

/** Checks the body of a request against its schema. Throws a Refusal (invalid) that names the field at fault. */
export interface BodyReader<Shape> {
  (body: JsonObject): Shape;
  readonly schema: SchemaObject;
}

/**
 * The reader of a request schema. A schema that takes no additional properties is that of an operation on many things,
 * where a misspelt filter must not widen the selection: its body must not have a field twice either.
 */
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

/** Whether a schema of a body takes no fields but those that it names. */
export function isClosed(schema: SchemaObject): boolean {
  return schema["additionalProperties"] === false;
}
