import { refuse } from "../../domain/refusal.ts";
import type { BodyReader } from "./body-reader.ts";
import { memberText, parseJsonObject } from "./json-text.ts";

/** A {@link payloadReader} of bodies that may lack the payload. */
export function optionalPayloadReader<Shape extends { readonly payload?: unknown }>(
  read: BodyReader<Shape>,
): BodyReader<Omit<Shape, "payload"> & { readonly payload?: string }> {
  const withPayload = payloadReader(read as BodyReader<Shape & { readonly payload: unknown }>);
  const readIfThere = (body: Parameters<typeof read>[0]) => ("payload" in read(body) ? withPayload(body) : read(body));
  return Object.assign(readIfThere as typeof withPayload, { schema: read.schema });
}

/**
 * A reader whose body has a `payload`, an object or its JSON text: reads the payload as its text. An object's text is
 * the very part of the body, since a parsed one would have lost digits. Throws a Refusal (invalid).
 */
export function payloadReader<Shape extends { readonly payload: unknown }>(
  read: BodyReader<Shape>,
): BodyReader<Omit<Shape, "payload"> & { readonly payload: string }> {
  const readWithText = (body: Parameters<typeof read>[0]) => {
    const { payload, ...rest } = read(body);
    const text = typeof payload === "string" ? payload : memberText(body.text, "payload") ?? "";
    if (!text.isWellFormed()) refuse("invalid", "payload: must be well-formed Unicode");
    return { ...rest, payload: parseJsonObject(Buffer.from(text), "payload").text };
  };
  return Object.assign(readWithText, { schema: read.schema });
}
