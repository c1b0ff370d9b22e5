import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Context, Middleware } from "koa";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { parseJsonObject, type JsonObject } from "../../kernel/operations/json-text.ts";
import { readAhead, uncountedBytes } from "../memory/request-memory.ts";

/** Holds memory for bytes of a body. `kept`: how many of them are in memory already. Rejects with a Refusal. */
export type HoldBody = (bytes: number, kept: number) => Promise<void>;

const jsonType = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json$/;

/**
 * Reads the body of a request: a JSON object, for which `hold` holds memory before it is read. Rejects with a Refusal
 * (wrong-type by its headers, too-large by its length or its count, invalid by its content), and with errors of `hold`.
 */
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
    // Only HTTP/1.1 knows interim answers: to an older client this would be the answer (RFC 9110, section 15.2).
    if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
    loaded ??= loadKoaBody(maxBytes);
    return parseJsonObject(await bytesOf(context, pieces(request, maxBytes, hold), await loaded, maxBytes));
  };
}

/** Loaded with the first body: it takes 20 MiB, and requests on the fast path never need it. */
async function loadKoaBody(maxBytes: number): Promise<Middleware> {
  const { koaBody, HttpMethodEnum } = await import("koa-body");
  // Latin-1 has one character for each byte: bytes that are not UTF-8, and a byte order mark, are still there.
  const parsedMethods = Object.values(HttpMethodEnum);
  return koaBody({ encoding: "latin1", textLimit: maxBytes, json: false, urlencoded: false, parsedMethods });
}

/** The JSON object in the body of a request that has come whole. Throws a Refusal (wrong-type, invalid). */
export function jsonObjectOf(request: Pick<IncomingMessage, "headers">, body: Buffer): JsonObject {
  checkType(request);
  return parseJsonObject(body);
}

/** Throws a Refusal (wrong-type) where headers do not say that the body is JSON in UTF-8, as it is. */
function checkType({ headers }: Pick<IncomingMessage, "headers">): void {
  const type = headers["content-type"];
  // A request without a body needs no type: it is refused because its body is empty.
  const bodiless = type === undefined && (headers["content-length"] ?? "0") === "0" && !headers["transfer-encoding"];
  if (type !== "application/json" && !bodiless) {
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

/** The bytes of a body as koa-body reads them. Rejects with a Refusal, see {@link ReadJsonObject}. */
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

/**
 * The pieces of a body, each with all bytes that have come by then: a body may come byte by byte, and each piece that
 * is kept takes dozens. If no header tells the length of the body, memory for the longest body is held once the body is
 * not small.
 */
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
