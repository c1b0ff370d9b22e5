import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../kernel/ports/clock.ts";

export const commonHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

/** Names and values in turn, which costs Node least. */
const commonPairs = Object.entries(commonHeaders).flat();

const commonLines = linesOf(commonHeaders);

export const plainText = "text/plain; charset=utf-8";
export const json = "application/json; charset=utf-8";

const lingerMs = 2_000;
const lingerBytes = 8 * 1024 * 1024;

/** Sends an answer past Koa. */
export function send(response: ServerResponse, status: number, type: string, text: string, requestId: string): void {
  const own = ["Content-Type", type, "Content-Length", String(Buffer.byteLength(text)), "X-Request-Id", requestId];
  response.writeHead(status, [...commonPairs, ...own]);
  response.end(text);
}

/** Answers a request with too large a body, and hangs up. An early close would lose the answer: bytes are discarded. */
export function sendAndHangUp(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { readonly status: number; readonly text: string; readonly requestId: string },
  clock: Clock,
): void {
  response.writeHead(answer.status, closingHeaders(answer.text, answer.requestId));
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

/** The bytes of an answer. `keepAliveMs`: the idle time that it announces; null for the connection's last answer. */
export function plainAnswer(
  { status, type, text, headers }: {
    readonly status: number;
    readonly type: string;
    readonly text: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
  requestId: string,
  { now, keepAliveMs }: { readonly now: number; readonly keepAliveMs: number | null },
): string {
  const connection = keepAliveMs === null ? "close" : `keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}`;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${commonLines}X-Request-Id: ${requestId}\r\n` +
    `${headers ? linesOf(headers) : ""}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
    `Date: ${httpDate(now)}\r\nConnection: ${connection}\r\n\r\n${text}`;
}

/** Answers an unparsable request, and closes the connection. */
export function sendUnasked(socket: Duplex, status: number, text: string, requestId: string): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${linesOf(closingHeaders(text, requestId))}\r\n`;
  socket.end(head + text, () => socket.destroy());
}

function closingHeaders(text: string, requestId: string): Readonly<Record<string, string | number>> {
  return {
    ...commonHeaders,
    "Content-Type": plainText,
    "Content-Length": Buffer.byteLength(text),
    "X-Request-Id": requestId,
    Connection: "close",
  };
}

function linesOf(headers: Readonly<Record<string, string | number>>): string {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
}

let newestDate = { second: NaN, text: "" };

/** The time in HTTP's format (RFC 9110, section 5.6.7), cached for a second. */
function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== newestDate.second) newestDate = { second, text: new Date(now).toUTCString() };
  return newestDate.text;
}
