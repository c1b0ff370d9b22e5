import type { Middleware } from "koa";
import { ingestPath, type IngestPath } from "../../features/ingest/operation.ts";
import { NotAdmitted, type Admission } from "../../features/ingest/producer-authentication.ts";
import { uuidOf } from "../../kernel/callers/input-rules.ts";
import type { JsonObject } from "../../kernel/operations/json-text.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { Fail } from "../answers/errors.ts";
import { json, plainText, sendAndHangUp } from "../answers/send.ts";
import type { Api } from "../api.ts";
import { uncountedBytes, holdArrived, memoryOf } from "../memory/request-memory.ts";
import type { ReadJsonObject } from "../requests/json-body.ts";
import { traceparentOf, oneHeader, readEventHeaders, type GivenHeaders } from "./event-headers.ts";

/** A POST to an ingest path, from the fast path or from Koa. */
export interface IngestRequest extends GivenHeaders {
  readonly path: IngestPath;
  readonly requestId: string;
  /** A promise if the body is incomplete. Throws a Refusal. */
  body(tenantId: string): JsonObject | Promise<JsonObject>;
  holdAnswer(tenantId: string, bytes: number): Promise<void>;
}

/** The answer to a producer. */
export interface IngestAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Accepts an event. Never rejects: failures are answers. */
export type AnswerIngest = (request: IngestRequest) => Promise<IngestAnswer>;

/** Answers ingest requests of the fast path and of Koa. Its cost for each event matters most. */
export function createAnswerIngest(api: Api, fail: Fail): AnswerIngest {
  const { services: { producers, ingest, refused }, clock, logger, metrics } = api;
  const logThrottle = new LogThrottle(clock);
  /** Only with a valid key: anyone else could fill the log. */
  const log = ({ key, destination, sender }: Admission, { status, text }: ReturnType<Fail>, requestId: string) => {
    const [destinationId, senderId] = [destination?.id ?? null, sender?.id ?? null];
    const target = { tenantId: key.tenantId, destinationId, senderId, status };
    const name = `${senderId ?? destinationId} ${status}`;
    logThrottle.tell(
      name,
      () => logger.info({ ...target, apiKeyId: key.id, reason: text, requestId }, "an ingest request was refused"),
      (told, requests) => logger.info(
        { ...(told === name ? target : { targets: "many" }), requests }, "more ingest requests were refused",
      ),
    );
  };
  return async (request) => {
    const { path: { tenant, token }, headers, requestId } = request;
    const startedAt = clock.monotonic();
    const tenantId = uuidOf(tenant);
    let admission: Admission | undefined;
    let answer: IngestAnswer;
    try {
      const admit = () => producers.admit(tenantId, token, oneHeader(headers, "x-api-key"));
      admission = await admit();
      const { idempotencyKey, eventType, ownerId, tags } = readEventHeaders(request);
      const keyTenantId = admission.key.tenantId;
      let body = request.body(keyTenantId);
      if (body instanceof Promise) {
        body = await body;
        // The key or destination may have changed while the body came.
        admission = await admit();
      }
      const traceparent = traceparentOf(headers);
      const said = { idempotencyKey, eventType, ownerId, tags };
      const posted = { received: body.text, ...said, correlationId: requestId, traceparent };
      const outcome = await ingest.accept(admission, posted, admit);
      answer = "accepted" in outcome
        ? { status: 202, type: json, text: JSON.stringify(outcome.accepted) }
        : { status: 200, type: json, text: JSON.stringify(outcome.duplicate) };
      if (answer.text.length > uncountedBytes) await request.holdAnswer(keyTenantId, answer.text.length);
    } catch (error) {
      const failure = fail(error, requestId);
      const challenge = failure.status === 401 && { headers: { "WWW-Authenticate": "ApiKey" } };
      answer = { ...failure, type: plainText, ...challenge };
      if (failure.status < 500) {
        if (admission) log(admission, failure, requestId);
        const key = admission?.key ?? (error instanceof NotAdmitted ? error.key : undefined);
        refused.count(tenantId, {
          status: failure.status, reason: failure.text,
          destinationUrlId: admission?.destination?.id ?? null, senderId: admission?.sender?.id ?? null,
          // A tenant must not see another's key.
          apiKeyId: key?.tenantId === tenantId ? key.id : null,
          requestId,
        });
      }
    }
    metrics.ingest(answer.status, (clock.monotonic() - startedAt) / 1000);
    return answer;
  };
}

/** Handles POSTs to ingest paths that came past the fast path. */
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
