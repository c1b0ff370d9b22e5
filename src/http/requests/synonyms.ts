import type { BodyReader } from "./body-reader.ts";

/** Other spellings of values of fields: by field, then by the spelling as a text, the value that the schema has. */
type Synonyms = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A reader that takes other spellings of some values, too. */
export function withSynonyms<Shape>(read: BodyReader<Shape>, synonyms: Synonyms): BodyReader<Shape> {
  const reading: (body: Parameters<typeof read>[0]) => Shape = ({ text, value }) => {
    const fields = Object.entries(synonyms).flatMap(([field, known]) => {
      const given: unknown = Object.getOwnPropertyDescriptor(value, field)?.value;
      const isName = typeof given === "string" || typeof given === "number";
      return isName && Object.hasOwn(known, given) ? [[field, known[given]] as const] : [];
    });
    return read({ text, value: { ...value, ...Object.fromEntries(fields) } });
  };
  return Object.assign(reading, { schema: read.schema });
}
