import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fail } from "../answers/failures.ts";
import { commonHeaders, plainText, send, sendAndHangUp } from "../answers/send.ts";
import type { Api } from "../api.ts";
import { holdArrived, memoryOf } from "../memory/memory-of.ts";
import { requestIdOf } from "../requests/identifiers.ts";
import { readJsonObject } from "../requests/json-body.ts";
import type { AnswerIngest, IngestAnswer } from "./answer.ts";
import type { IngestPath } from "./operation.ts";

/** Answers requests to ingest paths, of any method, as Node's HTTP server reads them. */
export function createIngestHandler(api: Api, answerIngest: AnswerIngest, fail: Fail) {
  const { ids, clock, maxBodyBytes } = api;
  return async (request: IncomingMessage, response: ServerResponse, path: IngestPath): Promise<void> => {
    const requestId = requestIdOf(request, ids);
    if (request.method !== "POST") {
      answerOtherMethod(request, response, requestId);
      return;
    }
    const { headers, rawHeaders } = request;
    const memory = memoryOf(api, request, response);
    const body = (tenantId: string) => readJsonObject(
      request, response, maxBodyBytes, (bytes, kept) => memory.hold(tenantId, bytes, kept));
    const holdAnswer = (tenantId: string, bytes: number) => memory.hold(tenantId, bytes);
    const answer = await holdArrived(request, memory).then(
      () => answerIngest({ path, headers, rawHeaders, requestId, body, holdAnswer }),
      (error: unknown): IngestAnswer => ({ ...fail(error, requestId), type: plainText }),
    );
    const { status, type, text } = answer;
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    if (status === 413) sendAndHangUp(request, response, { status, text, requestId }, clock);
    else send(response, status, type, text, requestId);
  };
}

function answerOtherMethod(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  response.setHeader("Allow", "OPTIONS, POST");
  if (request.method === "OPTIONS") response.writeHead(204, { ...commonHeaders, "X-Request-Id": requestId }).end();
  else send(response, 405, plainText, "method not allowed", requestId);
}
