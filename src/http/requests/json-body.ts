import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { readAhead, uncountedBytes } from "../memory/request-memory.ts";
import { parseJsonObject, type JsonObject } from "./json-text.ts";

/** Holds memory for bytes of a body. `kept`: how many of them are in memory already. Rejects with a Refusal. */
export type HoldBody = (bytes: number, kept: number) => Promise<void>;

const jsonType = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json$/;
const nothing: Buffer = Buffer.alloc(0);

/**
 * Reads the body of a request: a JSON object of at most `maxBytes`, for which `hold` holds memory before it is read.
 * Throws a Refusal: wrong-type by its headers, too-large by its length or its count, invalid by its content, and what
 * `hold` throws.
 */
export async function readJsonObject(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  hold: HoldBody,
): Promise<JsonObject> {
  checkType(request);
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (length > uncountedBytes) await hold(length, Math.min(length, readAhead));
  // Only HTTP/1.1 knows interim answers: to an older client this would be the answer (RFC 9110, section 15.2).
  if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
  return parseJsonObject(await readBytes(request, maxBytes, hold));
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

/** Where no header says how long the body is, memory for the longest is held once it proves to be no small one. */
function readBytes(request: IncomingMessage, maxBytes: number, hold: HoldBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = nothing;
    let size = 0;
    let counted = request.headers["content-length"] !== undefined;
    request.on("data", (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size > maxBytes) {
        request.removeAllListeners("data").pause();
        return reject(tooLarge(maxBytes));
      }
      if (!counted && size > uncountedBytes) {
        counted = true;
        request.pause();
        hold(maxBytes, size + readAhead).then(() => request.resume(), (error: Error) => {
          // What still comes is discarded.
          request.removeAllListeners("data").resume();
          reject(error);
        });
      }
      if (before === 0) bytes = chunk;
      else {
        // Copied: a body may come in pieces of one byte, and each piece that is kept takes hundreds.
        if (size > bytes.length) bytes = grown(bytes, Math.min(Math.max(size, bytes.length * 2), maxBytes));
        chunk.copy(bytes, before);
      }
    });
    request.once("end", () => resolve(size === bytes.length ? bytes : bytes.subarray(0, size)));
    // Where the connection breaks there is no "end". Every request has its "close": the error is made only if needed.
    const brokeOff = () => {
      if (!request.readableEnded) reject(new Refusal("invalid", "body: broke off"));
    };
    request.once("close", brokeOff).once("error", brokeOff);
    if (request.destroyed) brokeOff();
  });
}

function grown(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafe(length);
  bytes.copy(larger);
  return larger;
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("too-large", `body: must be at most ${maxBytes} bytes`);
}
