import { nothing, problem, type DescribedAnswer, type Operation } from "../operation.ts";
import type { Schema } from "../schemas.ts";

const shared = { method: "GET", tag: "Operation", security: "none", standsAlone: true } as const;

/** An answer in a format of its own. */
function file(mediaType: string, description: string, schema: Schema = { type: "string" }): DescribedAnswer {
  return { ...nothing(description), content: { [mediaType]: { schema } } };
}

/** Liveness, readiness, metrics, and these descriptions. */
export const healthOperations: readonly Operation[] = [
  {
    ...shared,
    id: "getHealth",
    path: "/healthz",
    summary: "Whether the process lives",
    answers: { 200: file("text/plain", "It serves.", { const: "ok" }) },
  },
  {
    ...shared,
    id: "getReadiness",
    path: "/readyz",
    summary: "Whether requests can be served",
    answers: {
      200: file("text/plain", "They can.", { const: "ready" }),
      503: problem("They cannot; the body says why.", "an engine has failed"),
    },
  },
  {
    ...shared,
    id: "getMetrics",
    path: "/metrics",
    summary: "Metrics for Prometheus",
    description: "Keep it from the public: it tells how much is going on.",
    answers: { 200: file("text/plain", "All metrics, in Prometheus' text format.") },
  },
  {
    ...shared,
    id: "getOpenapiDocument",
    path: "/openapi.json",
    summary: "This description, for machines",
    answers: { 200: file("application/json", "OpenAPI 3.1.", { type: "object" }) },
  },
  {
    ...shared,
    id: "getRoot",
    path: "/",
    summary: "Where the API is described",
    answers: { 200: file("text/plain", "A line that names the paths.") },
  },
  {
    ...shared,
    id: "getDocs",
    path: "/docs",
    summary: "This description, for people",
    answers: { 200: file("text/html", "One page that needs nothing else.") },
  },
];
