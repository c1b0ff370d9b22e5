import type { SchemaObject } from "ajv/dist/2020.js";
import { bodyReader, type BodyReader } from "./body-reader.ts";
import type { JsonObject } from "./json-text.ts";

/** Other spellings of values of fields: by field, then by the spelling as a text, the value that the schema has. */
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
