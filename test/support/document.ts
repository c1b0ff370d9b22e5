import type { Services } from "../../src/application/services.ts";
import { routesOf } from "../../src/http/app.ts";
import { ingestOperation } from "../../src/http/ingest.ts";
import { createDocument } from "../../src/http/openapi/document.ts";
import type { Operation } from "../../src/http/route.ts";
import type { Health } from "../../src/http/routes/health.ts";

/** Every operation of the API. */
export const operations: readonly Operation[] = [
  ...routesOf({ services: {} as Services, health: {} as Health }), ingestOperation,
];

/** The document of the API, as it is served. */
export const apiDocument = createDocument(operations);
