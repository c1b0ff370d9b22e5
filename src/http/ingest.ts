import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission } from "../application/ingest/admissions.ts";
import { Repeats } from "../application/repeats.ts";
import { refuse } from "../domain/refusal.ts";
import type { Fail } from "./answers/failures.ts";
import { commonHeaders, json, plainText, send, sendAndHangUp } from "./answers/send.ts";
import type { Api } from "./api.ts";
import { requestIdOf, uuidOf } from "./requests/identifiers.ts";
import { readJsonObject } from "./requests/json-body.ts";
import type { Operation } from "./route.ts";

const prefix = "/api/v1/ingest/";

/** What callers must know of ingest; it has no route. */
export const ingestOperation: Operation = {
  method: "POST",
  path: `${prefix}:tenantId/:token`,
  security: "apiKey",
  body: {
    schema: {
      type: "object",
      additionalProperties: true,
      description: "Any JSON object in UTF-8, nested at most 128 deep. The bytes received are the bytes delivered.",
    },
  },
};

const mostKeyCharacters = 255;

interface IngestPath {
  readonly tenant: string;
  readonly token: string;
}

/** The parts of an ingest path, or undefined for any other URL. */
export function ingestPath(url: string): IngestPath | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const query = url.indexOf("?");
  const [tenant, token, ...more] = url.slice(prefix.length, query < 0 ? undefined : query).split("/");
  return tenant && token && more.length === 0 ? { tenant: decode(tenant), token: decode(token) } : undefined;
}

/** Answers ingest requests without the framework: the one path whose cost counts. */
export function createIngestHandler(api: Api, fail: Fail) {
  const { services: { admissions, ingest }, ids, clock, logger, metrics, maxBodyBytes } = api;
  const refusals = new Repeats(clock);
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
  return async (request: IncomingMessage, response: ServerResponse, { tenant, token }: IngestPath): Promise<void> => {
    const startedAt = clock.monotonic();
    const requestId = requestIdOf(request, ids);
    if (request.method !== "POST") {
      answerOtherMethod(request, response, requestId);
      return;
    }
    let admission: Admission | undefined;
    let status: number;
    try {
      const tenantId = uuidOf(tenant);
      const admit = () => admissions.admit(tenantId, token, oneHeader(request, "x-api-key"));
      admission = await admit();
      const idempotencyKey = readIdempotencyKey(request);
      const { text } = await readJsonObject(request, response, maxBodyBytes);
      // A body may take its time: what was revoked, deleted or changed meanwhile is.
      admission = await admit();
      const outcome = await ingest.accept(admission, text, idempotencyKey, requestId);
      status = "accepted" in outcome ? 202 : 200;
      const answer = "accepted" in outcome ? outcome.accepted : outcome.duplicate;
      send(response, status, json, JSON.stringify(answer), requestId);
    } catch (error) {
      const failure = fail(error, requestId);
      status = failure.status;
      if (status === 401) response.setHeader("WWW-Authenticate", "ApiKey");
      if (status === 413) sendAndHangUp(request, response, { ...failure, requestId }, clock);
      else send(response, status, plainText, failure.text, requestId);
      if (admission && status < 500) refused(admission, failure, requestId);
    }
    metrics.ingest(status, (clock.monotonic() - startedAt) / 1000);
  };
}

function answerOtherMethod(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  response.setHeader("Allow", "OPTIONS, POST");
  if (request.method === "OPTIONS") response.writeHead(204, { ...commonHeaders, "X-Request-Id": requestId }).end();
  else send(response, 405, plainText, "method not allowed", requestId);
}

function oneHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

/** Throws a Refusal (invalid) for no key, or for two: silence would lose the protection that was asked for. */
function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const header = oneHeader(request, "x-idempotency-key");
  if (header === undefined) return undefined;
  // Node joins repeated headers like this; a key may contain it, too.
  if (header.includes(", ") && countOf(request, "x-idempotency-key") > 1) {
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

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
