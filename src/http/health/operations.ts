import type { RequestListener } from "node:http";
import { requestIdOf } from "../../kernel/callers/input-rules.ts";
import { file, problem } from "../../kernel/operations/description.ts";
import { open, type Operation, type Answer } from "../../kernel/operations/operation.ts";
import { createFailures } from "../answers/errors.ts";
import { plainText, send } from "../answers/send.ts";
import type { Health, Common } from "../api.ts";

const shared = { tag: "Operation", standsAlone: true } as const;

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

/** The health operations. */
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

/** The listener of a process without the API. */
export function createHealthApp(common: Common): RequestListener {
  const probes = new Map<string, () => Promise<Answer>>(Object.entries(healthProbes(common.health)));
  const fail = createFailures(common);
  return (request, response) => {
    const requestId = requestIdOf(request, common.ids);
    const [path = ""] = (request.url ?? "").split("?", 1);
    const probe = request.method === "GET" || request.method === "HEAD" ? probes.get(path) : undefined;
    if (!probe) return send(response, 404, plainText, "this process serves no API", requestId);
    void probe()
      .catch((error: unknown): Answer => fail(error, requestId))
      .then(({ status, text = "", type = plainText }) => send(response, status, type, String(text), requestId));
  };
}
