import type { Schema } from "../../kernel/operations/description.ts";
import { responses } from "./responses.ts";

/** A schema that other ones may refer to. */
interface SchemaFile extends Schema {
  readonly $id?: string;
  readonly $schema?: string;
  readonly title?: string;
}

/** The components' schemas by name: those of all answers, and of the given request bodies. */
export function schemaComponents(requests: readonly SchemaFile[]): Record<string, Schema> {
  const all = [...requests.map(withSpelledDefaults), ...responses];
  return Object.fromEntries(all.map((schema) => [nameOf(schema.$id ?? ""), plain(schema)]));
}

/** The reference to a schema that has an id, else the schema itself. */
export function referenceTo(schema: SchemaFile): Schema {
  return schema.$id === undefined ? schema : { $ref: pointerTo(schema.$id) };
}

/** A value with the ids of schemas in it turned into references to components. */
export function withComponents<Value>(value: Value): Value {
  if (typeof value === "string") return pointerTo(value) as Value;
  if (Array.isArray(value)) return (value as unknown[]).map(withComponents) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withComponents(inner)])) as Value;
}

/** Defaults in words: some generated clients take a field that has one for a field that must be sent. */
function withSpelledDefaults(schema: SchemaFile): SchemaFile {
  const spelled = Object.entries(schema.properties ?? {}).map(([name, { default: standIn, ...property }]) => {
    const { description = "" } = property;
    const words = standIn === undefined ? description : `${description} ${JSON.stringify(standIn)} if absent.`;
    return [name, { ...property, description: words }] as const;
  });
  return { ...schema, properties: Object.fromEntries(spelled) };
}

/** Without the keywords that only a file needs: some generated clients would name the type by the title. */
function plain(schema: SchemaFile): Schema {
  const { $schema: _dialect, $id: _id, title: _title, ...rest } = schema;
  return withComponents(rest);
}

function pointerTo(text: string): string {
  return text.startsWith("urn:webhook-relay:") ? `#/components/schemas/${nameOf(text)}` : text;
}

/** `urn:webhook-relay:response:api-key` goes by `ApiKey`, `…:request:login` by `LoginRequest`. */
function nameOf(id: string): string {
  const [, kind, name = ""] = /:(request|response):(.+)$/.exec(id) ?? [];
  const words = [...name.split("-"), ...(kind === "request" ? [kind] : [])];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
