import type { SchemaObject } from "ajv/dist/2020.js";

/** An object's schema that adds to another one: properties, and more or other words on those that are there. */
export function extended(base: SchemaObject, own: SchemaObject): SchemaObject {
  const properties = { ...propertiesOf(base) };
  for (const [name, property] of Object.entries(propertiesOf(own))) {
    properties[name] = { ...properties[name], ...property };
  }
  const required = [...requiredOf(base), ...requiredOf(own)];
  return { ...base, ...own, properties, ...(required.length > 0 && { required }) };
}

function propertiesOf(schema: SchemaObject): Readonly<Record<string, object>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, object>>;
}

function requiredOf(schema: SchemaObject): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}
