import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Admission } from "../../application/ingest/producer-authentication.ts";
import { LogThrottle } from "../../application/log-throttle.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Fail } from "../answers/failures.ts";
import { json, plainText } from "../answers/send.ts";
import type { Api } from "../api.ts";
import { uncountedBytes } from "../memory/request-memory.ts";
import { uuidOf } from "../requests/identifiers.ts";
import type { JsonObject } from "../requests/json-text.ts";
import { traceparentOf } from "../requests/traceparent.ts";
import type { IngestPath } from "./operation.ts";

const mostKeyCharacters = 255;

/** A POST to an ingest path, from the fast path or from Koa. */
export interface IngestRequest {
  readonly path: IngestPath;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, of at least the headers that were given more than once. */
  readonly rawHeaders: readonly string[];
  readonly requestId: string;
  /** Reads the body for a tenant: a promise where it has yet to come. Throws a Refusal. */
  body(tenantId: string): JsonObject | Promise<JsonObject>;
  /** Holds memory for an answer of that many bytes, which the tenant is to get. Rejects with a Refusal. */
  holdAnswer(tenantId: string, bytes: number): Promise<void>;
}

/** The answer to a producer. */
export interface IngestAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** Besides those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Takes an event in. Never rejects: refusals and failures are answers. */
export type AnswerIngest = (request: IngestRequest) => Promise<IngestAnswer>;

/** Answers ingest requests of the fast path and of Koa alike. Its cost for each event matters most of all. */
export function createAnswerIngest(api: Api, fail: Fail): AnswerIngest {
  const { services: { producers, ingest }, clock, logger, metrics } = api;
  const refusals = new LogThrottle(clock);
  /** Of producers with a good key only: anyone else could fill the log. */
  const refused = ({ key, destination, sender }: Admission, { status, text }: ReturnType<Fail>, requestId: string) => {
    const target = { tenantId: key.tenantId, destinationId: destination.id, senderId: sender?.id ?? null, status };
    const name = `${sender?.id ?? destination.id} ${status}`;
    refusals.tell(
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
    let admission: Admission | undefined;
    let answer: IngestAnswer;
    try {
      const tenantId = uuidOf(tenant);
      const admit = () => producers.admit(tenantId, token, oneHeader(headers, "x-api-key"));
      admission = await admit();
      const idempotencyKey = readIdempotencyKey(request);
      const { tenantId: ownerId } = admission.key;
      let body = request.body(ownerId);
      if (body instanceof Promise) {
        body = await body;
        // Reading the body may take long: the key or destination may have been revoked, deleted or changed meanwhile.
        admission = await admit();
      }
      const traceparent = traceparentOf(headers);
      const posted = { received: body.text, idempotencyKey, correlationId: requestId, traceparent };
      const outcome = await ingest.accept(admission, posted, admit);
      answer = "accepted" in outcome
        ? { status: 202, type: json, text: JSON.stringify(outcome.accepted) }
        : { status: 200, type: json, text: JSON.stringify(outcome.duplicate) };
      if (answer.text.length > uncountedBytes) await request.holdAnswer(ownerId, answer.text.length);
    } catch (error) {
      const failure = fail(error, requestId);
      const challenge = failure.status === 401 && { headers: { "WWW-Authenticate": "ApiKey" } };
      answer = { ...failure, type: plainText, ...challenge };
      if (admission && failure.status < 500) refused(admission, failure, requestId);
    }
    metrics.ingest(answer.status, (clock.monotonic() - startedAt) / 1000);
    return answer;
  };
}

function oneHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** Throws a Refusal (invalid) for an empty key, or for two: without a key a repeated event would be accepted twice. */
function readIdempotencyKey({ headers, rawHeaders }: IngestRequest): string | undefined {
  const header = oneHeader(headers, "x-idempotency-key");
  if (header === undefined) return undefined;
  // Node joins repeated headers like this; a key may contain it, too.
  if (header.includes(", ") && countOf(rawHeaders, "x-idempotency-key") > 1) {
    refuse("invalid", "X-Idempotency-Key: must be given once");
  }
  // Node reads headers as Latin-1; a client that sends more than ASCII sends UTF-8.
  const bytes = /^[\x20-\x7e]*$/.test(header) ? undefined : Buffer.from(header, "latin1");
  const key = bytes && isUtf8(bytes) ? bytes.toString("utf8") : header;
  if (key === "") refuse("invalid", "X-Idempotency-Key: must not be empty");
  if ((bytes ? [...key].length : key.length) > mostKeyCharacters) {
    refuse("invalid", `X-Idempotency-Key: must be at most ${mostKeyCharacters} characters long`);
  }
  if (bytes && /\p{Cc}/u.test(key)) refuse("invalid", "X-Idempotency-Key: must not contain control characters");
  return key;
}

function countOf(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}
