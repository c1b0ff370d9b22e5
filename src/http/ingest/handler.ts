import type { Middleware } from "koa";
import { ingestPath } from "../../features/ingest/operation.ts";
import { sendAndHangUp } from "../answers/send.ts";
import type { Api } from "../api.ts";
import { holdArrived, memoryOf } from "../memory/request-memory.ts";
import type { ReadJsonObject } from "../requests/json-body.ts";
import type { AnswerIngest } from "./answer.ts";

/** Takes in POSTs to ingest paths, as Node's HTTP server reads them; leaves all other requests to the next handler. */
export function createIngestHandler(api: Api, answerIngest: AnswerIngest, read: ReadJsonObject): Middleware {
  return async (context, next) => {
    const { req: request, res: response } = context;
    const path = context.method === "POST" ? ingestPath(request.url ?? "") : undefined;
    if (!path) {
      await next();
      return;
    }
    const { headers, rawHeaders } = request;
    const { requestId } = context.state as { readonly requestId: string };
    const memory = memoryOf(api, request, response);
    await holdArrived(request, memory);
    const answer = await answerIngest({
      path, headers, rawHeaders, requestId,
      body: (tenantId) => read(context, (bytes, kept) => memory.hold(tenantId, bytes, kept)),
      holdAnswer: (tenantId, bytes) => memory.hold(tenantId, bytes),
    });
    const { status, type, text } = answer;
    if (status === 413) {
      context.respond = false;
      sendAndHangUp(request, response, { status, text, requestId }, api.clock);
      return;
    }
    context.status = status;
    context.set({ ...answer.headers, "Content-Type": type });
    context.body = text;
  };
}
