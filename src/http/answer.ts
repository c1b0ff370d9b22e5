import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../ports/clock.ts";

/** Headers of every answer. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

/** The same as Node takes them with least effort: names and values in turn. */
const commonPairs = Object.entries(commonHeaders).flat();

export const plainText = "text/plain; charset=utf-8";
export const json = "application/json; charset=utf-8";

const lingerMs = 2_000;
const lingerBytes = 8 * 1024 * 1024;

/** Sends a whole answer past any framework. */
export function send(response: ServerResponse, status: number, type: string, text: string, requestId: string): void {
  const own = ["Content-Type", type, "Content-Length", String(Buffer.byteLength(text)), "X-Request-Id", requestId];
  response.writeHead(status, [...commonPairs, ...own]);
  response.end(text);
}

/**
 * Sends an answer to a request whose body is too much to read, then closes the connection. To close it while
 * the client still sends would take the answer from it, so what comes is thrown away for a while first.
 */
export function sendAndHangUp(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { readonly status: number; readonly text: string; readonly requestId: string },
  clock: Clock,
): void {
  response.writeHead(answer.status, {
    ...commonHeaders,
    "Content-Type": plainText,
    "Content-Length": Buffer.byteLength(answer.text),
    "X-Request-Id": answer.requestId,
    Connection: "close",
  });
  response.write(answer.text);
  const timer = clock.schedule(lingerMs, () => response.end());
  const end = () => {
    timer.cancel();
    response.end();
  };
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > lingerBytes) end();
  });
  request.once("end", end).once("close", end).resume();
}
