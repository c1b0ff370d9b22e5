import type { RequestListener } from "node:http";
import { plainText, send } from "./answer.ts";
import type { Common } from "./api.ts";
import { requestIdOf } from "./identifiers.ts";
import { healthProbes } from "./routes/health.ts";

/** What a process without the API answers: whether it lives, whether it can work, and its metrics. */
export function createHealthApp({ health, ids, logger, metrics }: Common): RequestListener {
  const probes = healthProbes(health);
  return (request, response) => {
    const requestId = requestIdOf(request, ids);
    const [path = ""] = (request.url ?? "").split("?", 1);
    const probe = request.method === "GET" ? probes.get(path) : undefined;
    if (!probe) return send(response, 404, plainText, "this process serves no API", requestId);
    probe().then(
      ({ status, text = "", type }) => send(response, status, type ?? plainText, String(text), requestId),
      (error: unknown) => {
        metrics.trouble("request failed");
        logger.error({ err: error, requestId }, "a request failed");
        send(response, 500, plainText, "internal error", requestId);
      },
    );
  };
}
