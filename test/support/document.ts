import type { Services } from "../../src/features/services.ts";
import type { Health } from "../../src/http/api.ts";
import { createDocument, type ApiDocument } from "../../src/http/openapi/document.ts";
import { operationsOf } from "../../src/http/operations.ts";
import type { Schema } from "../../src/kernel/operations/description.ts";
import type { Operation } from "../../src/kernel/operations/operation.ts";

/** Every operation of the API. */
export const operations: readonly Operation[] =
  operationsOf({ services: {} as Services, health: {} as Health, pages: null });

/** The document of the API, as it is served. */
export const apiDocument = createDocument(operations);

const { components } = apiDocument;
/** A schema that others extend cannot be closed by itself. */
const isOpen = (name: string) => name.endsWith("Request") || name === "Fact";
const closedSchemas = Object.entries(components.schemas).map(([name, schema]) =>
  [name, isOpen(name) ? schema : closed(schema)]);

/** The same, but it takes no answer with a field that it does not describe. */
export const closedDocument: ApiDocument = {
  ...apiDocument, components: { ...components, schemas: Object.fromEntries(closedSchemas) as Record<string, Schema> },
};

function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return (value as unknown[]).map(closed) as Value;
  if (typeof value !== "object" || value === null) return value;
  const { allOf, ...own } = value as Schema;
  if (allOf) return { ...own, allOf: allOf.map(insideClosed), unevaluatedProperties: false } as Value;
  const isObject = [own.type].flat().includes("object") && own.properties !== undefined;
  return { ...insideClosed(own), ...(isObject && { additionalProperties: false }) } as Value;
}

function insideClosed(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).map(([key, one]: [string, unknown]) => [key, closed(one)]));
}
