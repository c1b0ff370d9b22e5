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

/** The schema of a change: the fields of a creation but for those in `without`, none required or filled in. */
export function changeOf(creation: SchemaObject, { without = [], properties: own, ...head }: SchemaObject) {
  const fixed = new Set(without as readonly string[]);
  const fields = Object.entries(propertiesOf(creation)).filter(([name]) => !fixed.has(name));
  const properties = Object.fromEntries(fields.map(([name, { default: _none, ...field }]) => [name, field] as const));
  return { ...head, ...extended({ type: "object", properties }, { properties: own as object }) };
}

function propertiesOf(schema: SchemaObject): Readonly<Record<string, SchemaObject>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, SchemaObject>>;
}

function requiredOf(schema: SchemaObject): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}
