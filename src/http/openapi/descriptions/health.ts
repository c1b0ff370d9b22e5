import { nothing, problem, type DescribedAnswer, type Descriptions } from "../description.ts";
import type { Schema } from "../schemas.ts";

const shared = { tag: "Operation", standsAlone: true } as const;

/** An answer in a format of its own. */
function file(mediaType: string, description: string, schema: Schema = { type: "string" }): DescribedAnswer {
  return { ...nothing(description), content: { [mediaType]: { schema } } };
}

/** Liveness, readiness, metrics, and these descriptions. */
export const healthDescriptions: Descriptions = {
  "GET /healthz": {
    ...shared,
    id: "getHealth",
    summary: "Liveness",
    answers: { 200: file("text/plain", "The process serves.", { type: "string", enum: ["ok"] }) },
  },
  "GET /readyz": {
    ...shared,
    id: "getReadiness",
    summary: "Readiness",
    answers: {
      200: file("text/plain", "Requests can be served.", { type: "string", enum: ["ready"] }),
      503: problem(
        "Requests cannot be served; the body says why.",
        "no answer from MongoDB", "the log cannot be written: no space left", "the log is not followed",
      ),
    },
  },
  "GET /metrics": {
    ...shared,
    id: "getMetrics",
    summary: "Metrics for Prometheus",
    description: "Keep it from the public: it shows how much traffic there is.",
    answers: { 200: file("text/plain", "All metrics, in Prometheus' text format.") },
  },
  "GET /openapi.json": {
    ...shared,
    id: "getOpenapiDocument",
    summary: "This description, for machines",
    answers: { 200: file("application/json", "OpenAPI 3.1.", { type: "object", additionalProperties: true }) },
  },
  "GET /": {
    ...shared,
    id: "getRoot",
    summary: "Where the API is described",
    answers: {
      200: file("text/plain", "A line that names the paths."),
      302: {
        ...file("text/plain", "To a browser, which asks for `text/html`: the dashboard is at `/app/`."),
        headers: { Location: { required: true, schema: { type: "string", enum: ["/app/"] } } },
      },
    },
  },
  "GET /docs": {
    ...shared,
    id: "getDocs",
    summary: "This description, for people",
    answers: { 200: file("text/html", "One page that needs nothing else.") },
  },
};
