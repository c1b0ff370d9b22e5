import type { SchemaObject } from "ajv/dist/2020.js";
import { refuse } from "../domain/refusal.ts";
import { bodyReader, type BodyReader } from "./body-reader.ts";
import { memberText, parseJsonObject, type JsonObject } from "./json-text.ts";

/**
 * A reader whose body has a `payload`, an object or its JSON text, where its schema asks for one: reads the payload as
 * its text. An object's text is the very part of the body, since a parsed one would have lost digits. Throws a Refusal
 * (invalid).
 */
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
