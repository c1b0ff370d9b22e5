import { file, problem } from "../../kernel/operations/description.ts";
import { open, type Operation } from "../../kernel/operations/operation.ts";

/** The state of this process, for operators and their tools. */
export interface Health {
  /** Null when this process can do its work, else why not. */
  readonly ready: () => string | null;
  /** All metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}

/** Liveness, readiness and metrics, by path. */
export function healthProbes({ ready, metrics }: Health) {
  return {
    "/healthz": async () => ({ status: 200 as const, text: "ok" }),
    "/readyz": async () => {
      const reason = ready();
      return reason === null ? { status: 200 as const, text: "ready" } : { status: 503 as const, text: reason };
    },
    "/metrics": async () =>
      ({ status: 200 as const, text: await metrics(), type: "text/plain; version=0.0.4; charset=utf-8" }),
  };
}

const shared = { tag: "Operation", standsAlone: true } as const;

/** The probes as operations of the API. */
export function healthOperations(health: Health): Operation[] {
  const probes = healthProbes(health);
  return [
    open({
      ...shared,
      id: "getHealth",
      route: "GET /healthz",
      summary: "Liveness",
      answers: { 200: file("text/plain", "The process serves.", { type: "string", enum: ["ok"] }) },
    }, probes["/healthz"]),
    open({
      ...shared,
      id: "getReadiness",
      route: "GET /readyz",
      summary: "Readiness",
      answers: {
        200: file("text/plain", "Requests can be served.", { type: "string", enum: ["ready"] }),
        503: problem(
          "Requests cannot be served; the body says why.",
          "no answer from MongoDB", "the log cannot be written: no space left", "the log is not followed",
        ),
      },
    }, probes["/readyz"]),
    open({
      ...shared,
      id: "getMetrics",
      route: "GET /metrics",
      summary: "Metrics for Prometheus",
      description: "Keep it from the public: it shows how much traffic there is.",
      answers: { 200: file("text/plain", "All metrics, in Prometheus' text format.") },
    }, probes["/metrics"]),
  ];
}
