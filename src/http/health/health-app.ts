import type { RequestListener } from "node:http";
import { requestIdOf } from "../../kernel/callers/input-rules.ts";
import type { Answer } from "../../kernel/operations/operation.ts";
import { createFailures } from "../answers/failures.ts";
import { plainText, send } from "../answers/send.ts";
import type { Common } from "../api.ts";
import { healthProbes } from "./operations.ts";

/** The answers of a process without the API: whether it lives, whether it can work, and its metrics. */
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
