import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Context, Middleware } from "koa";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { parseJsonObject, type JsonObject } from "../../kernel/operations/json-text.ts";
import { readAhead, uncountedBytes } from "../memory/request-memory.ts";

/** Holds memory for a body. `kept`: bytes in memory already. Rejects with a Refusal. */
export type HoldBody = (bytes: number, kept: number) => Promise<void>;

const jsonType = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json$/;

/** Reads a JSON object after `hold` holds memory for it. Rejects with a Refusal (wrong-type, too-large, invalid). */
export type ReadJsonObject = (context: Context, hold: HoldBody) => Promise<JsonObject>;

/** The reader of bodies of at most `maxBytes`. */
export function jsonObjectReader(maxBytes: number): ReadJsonObject {
  let loaded: Promise<Middleware> | undefined;
  return async (context, hold) => {
    const { req: request, res: response } = context;
    checkType(request);
    const length = Number(request.headers["content-length"] ?? 0);
    if (length > maxBytes) throw tooLarge(maxBytes);
    if (length > uncountedBytes) await hold(length, Math.min(length, readAhead));
    // An older client would take it for the answer (RFC 9110, section 15.2).
    if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
    loaded ??= loadKoaBody(maxBytes);
    return parseJsonObject(await bytesOf(context, pieces(request, maxBytes, hold), await loaded, maxBytes));
  };
}

/** Loaded late: it takes 20 MiB, and the fast path never needs it. */
async function loadKoaBody(maxBytes: number): Promise<Middleware> {
  const { koaBody, HttpMethodEnum } = await import("koa-body");
  // Latin-1 keeps every byte, also invalid UTF-8 and a byte order mark.
  const parsedMethods = Object.values(HttpMethodEnum);
  return koaBody({ encoding: "latin1", textLimit: maxBytes, json: false, urlencoded: false, parsedMethods });
}

/** The JSON object in a complete body. Throws a Refusal (wrong-type, invalid). */
export function jsonObjectOf(request: Pick<IncomingMessage, "headers">, body: Buffer): JsonObject {
  checkType(request);
  return parseJsonObject(body);
}

/** Whether a request has no body, whatever type it names. */
export function isBodiless({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return (headers["content-length"] ?? "0") === "0" && !headers["transfer-encoding"];
}

function checkType(request: Pick<IncomingMessage, "headers">): void {
  const { headers } = request;
  const type = headers["content-type"];
  // It is refused later, since its body is empty.
  if (type !== "application/json" && !(type === undefined && isBodiless(request))) {
    const [essence = "", ...parameters] = (type ?? "").toLowerCase().split(";").map((part) => part.trim());
    const charsets = parameters.filter((parameter) => parameter.startsWith("charset"));
    const utf8 = charsets.every((charset) => /^charset\s*=\s*"?utf-?8"?$/.test(charset));
    if (!jsonType.test(essence) || !utf8) refuse("wrong-type", "Content-Type: must be application/json in UTF-8");
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    refuse("wrong-type", "Content-Encoding: the body must not be encoded");
  }
}

async function bytesOf(
  context: Context, pieces: AsyncIterable<Buffer>, koaBody: Middleware, maxBytes: number,
): Promise<Buffer> {
  if (context.req.destroyed) throw brokeOff();
  const { "content-encoding": _identity, ...headers } = context.req.headers;
  const req = Object.assign(Readable.from(pieces, { objectMode: false }), { headers });
  try {
    const asText = Object.create(context, { req: { value: req }, is: { value: () => "text/plain" } }) as Context;
    await koaBody(asText, async () => undefined);
    return Buffer.from(asText.request.body as string, "latin1");
  } catch (error) {
    req.destroy();
    if (error instanceof Refusal) throw error;
    throw (error as { readonly status?: number }).status === 413 ? tooLarge(maxBytes) : brokeOff();
  }
}

/** Pieces of a body, each with all bytes that have come; a body without a length soon holds the most memory. */
async function* pieces(request: IncomingMessage, maxBytes: number, hold: HoldBody): AsyncGenerator<Buffer, void> {
  let size = 0;
  let counted = request.headers["content-length"] !== undefined;
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += piece.length;
    if (!counted && size > uncountedBytes) {
      counted = true;
      await hold(maxBytes, size + readAhead);
    }
    yield piece;
  }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("too-large", `body: must be at most ${maxBytes} bytes`);
}

function brokeOff(): Refusal {
  return new Refusal("invalid", "body: broke off");
}
