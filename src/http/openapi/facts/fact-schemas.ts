import type { SchemaObject } from "ajv/dist/2020.js";
import eventStatus from "../../../../schemas/responses/event-status.json" with { type: "json" };
import { auditTypes, facts, histories, schemaOf } from "../../../features/facts.ts";
import type { Fact } from "../../../kernel/domain/fact.ts";
import { fieldMeanings } from "./field-meanings.ts";

type Properties = Readonly<Record<string, SchemaObject>>;
type ObjectSchema = { readonly properties: Properties; readonly required: readonly string[] };

const types = Object.values(histories).flat();

/**
 * The schemas of facts as histories show them: one for each type, one for all types that a later version may add, and
 * the unions of them that a history and the audit have. They extend the fact of schemas/responses/fact.json.
 */
export const factSchemas: readonly SchemaObject[] = [
  ...types.map((type) => factSchema(type)),
  otherFact(),
  union("history-item", "A fact of a history, by its `type`.", types),
  union("audit-item", "A fact of the audit, by its `type`.", auditTypes),
];

function factSchema(type: string): SchemaObject {
  return extension(`${type}Fact`, declared(type).meaning, {
    type: { type: "string", enum: [type], description: `Always ${type}.` },
    data: shownData(type),
  });
}

/** Excludes the types that have a schema, so that a fact matches exactly one member of a union. */
function otherFact(): SchemaObject {
  return extension("OtherFact", "A fact of a type that this version of the description does not know.", {
    type: { type: "string", not: { enum: types }, description: "Any other type." },
    data: { type: "object", additionalProperties: true, description: "The fields of the fact." },
  });
}

function extension(name: string, description: string, properties: Properties): SchemaObject {
  const own = { type: "object", properties, required: Object.keys(properties) };
  return { $id: idOf(name), description, allOf: [{ $ref: idOf("fact") }, own] };
}

/** The discriminator has OtherFact under its own name, which OpenAPI implies for every member of a union. */
function union(name: string, description: string, members: readonly string[]): SchemaObject {
  const mapping = Object.fromEntries([
    ...members.map((type) => [type, idOf(`${type}Fact`)] as const), ["OtherFact", idOf("OtherFact")] as const,
  ]);
  const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
  return { $id: idOf(name), description, oneOf, discriminator: { propertyName: "type", mapping } };
}

function idOf(name: string): string {
  return `urn:webhook-relay:response:${name}`;
}

/** The data of a fact as {@link shownData} of the domain shows it, by the newest schema of the type. */
function shownData(type: string): SchemaObject {
  const fact = declared(type);
  const { properties, required } = schemaOf(type, fact) as unknown as ObjectSchema;
  const fields = fact.shown ?? [];
  const names = Object.keys(properties).filter((name) => fields === "all" || fields.includes(name));
  const described = Object.fromEntries(names.map((name) => fieldOf(name, properties[name] ?? {})));
  const always = names.filter((name) => required.includes(name)).map((name) => (name === "auth" ? "authType" : name));
  return { type: "object", properties: described, required: always, description: "The fields of the fact." };
}

function fieldOf(name: string, schema: SchemaObject): [string, SchemaObject] {
  if (name !== "auth") return [name, fieldSchema(name, schema)];
  const { type, enum: kinds } = (schema["properties"] as Properties)["type"] as { type: string; enum: string[] };
  const isOptional = [schema["type"]].flat().includes("null");
  const values = isOptional ? { type: [type, "null"], enum: [...kinds, null] } : { type, enum: kinds };
  return ["authType", { ...values, description: fieldMeanings["authType"] }];
}

/** Open to fields that later versions add, and described throughout. */
function fieldSchema(name: string, { additionalProperties, ...schema }: SchemaObject): SchemaObject {
  const description = (schema["description"] as string | undefined) ?? fieldMeanings[name];
  if (String(schema["enum"]) === String(eventStatus.enum)) return { $ref: eventStatus.$id, description };
  const inner = Object.entries((schema["properties"] ?? {}) as Properties).map(([key, one]) =>
    [key, fieldSchema(key, one)] as const);
  return {
    ...schema,
    description,
    ...(inner.length > 0 && { properties: Object.fromEntries(inner) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: additionalProperties as object }),
    ...(typeof schema["items"] === "object" && { items: itemSchema(schema["items"] as SchemaObject) }),
  };
}

function itemSchema(schema: SchemaObject): SchemaObject {
  const { description: _none, ...item } = fieldSchema("", schema);
  return item;
}

function declared(type: string): Fact {
  return facts.get(type)!;
}
