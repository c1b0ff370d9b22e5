import type { Services } from "../../src/application/services.ts";
import { routesOf } from "../../src/http/app.ts";
import { ingestOperation } from "../../src/http/ingest/operation.ts";
import { createDocument, type ApiDocument } from "../../src/http/openapi/document.ts";
import type { Schema } from "../../src/http/openapi/schemas.ts";
import type { Operation } from "../../src/http/route.ts";
import type { Health } from "../../src/http/routes/health.ts";

/** Every operation of the API. */
export const operations: readonly Operation[] = [
  ...routesOf({ services: {} as Services, health: {} as Health }), ingestOperation,
];

/** The document of the API, as it is served. */
export const apiDocument = createDocument(operations);

const { components } = apiDocument;
const closedSchemas = Object.entries(components.schemas).map(([name, schema]) =>
  [name, name.endsWith("Request") ? schema : closed(schema)]);

/** The same, but it takes no answer with a field that it does not describe. */
export const closedDocument: ApiDocument = {
  ...apiDocument, components: { ...components, schemas: Object.fromEntries(closedSchemas) as Record<string, Schema> },
};

function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return (value as unknown[]).map(closed) as Value;
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.entries(value).map(([key, one]: [string, unknown]) => [key, closed(one)]);
  const isObject = "type" in value && [value.type].flat().includes("object") && "properties" in value;
  return Object.fromEntries(isObject ? [...inner, ["additionalProperties", false]] : inner) as Value;
}
