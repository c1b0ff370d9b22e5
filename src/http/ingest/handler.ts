import type { IncomingMessage, ServerResponse } from "node:http";
import { commonHeaders, plainText, send, sendAndHangUp } from "../answers/send.ts";
import type { Api } from "../api.ts";
import { requestIdOf } from "../requests/identifiers.ts";
import { readJsonObject } from "../requests/json-body.ts";
import type { AnswerIngest } from "./answer.ts";
import type { IngestPath } from "./operation.ts";

/** Answers requests to ingest paths, of any method, as Node's HTTP server reads them. */
export function createIngestHandler({ ids, clock, maxBodyBytes }: Api, answerIngest: AnswerIngest) {
  return async (request: IncomingMessage, response: ServerResponse, path: IngestPath): Promise<void> => {
    const requestId = requestIdOf(request, ids);
    if (request.method !== "POST") {
      answerOtherMethod(request, response, requestId);
      return;
    }
    const { headers, rawHeaders } = request;
    const body = () => readJsonObject(request, response, maxBodyBytes);
    const answer = await answerIngest({ path, headers, rawHeaders, requestId, body });
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
