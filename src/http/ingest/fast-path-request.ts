import { ingestPath, ingestPrefix, type IngestPath } from "../../features/ingest/operation.ts";
import { hasBrokenEscape, targetCharacters } from "../requests/target.ts";

/** A complete POST to an ingest path in a form that can be read in one way only. */
export interface FastPathRequest {
  readonly path: IngestPath;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const opening = `POST ${ingestPrefix}`;
const requestLine = new RegExp(`^POST ([${targetCharacters}]+) HTTP/1\\.1\\r\\n`);
const headerLine = /([A-Za-z0-9-]+): ([!-~](?:[ -~]*[!-~])?)\r\n/y;
const headEnd = Buffer.from("\r\n\r\n");
/** Node takes at most a thousand headers: so small a head has fewer. */
const mostHeadBytes = 4_096;

/** Headers that change the meaning of a request. */
const meaningful = new Set(["connection", "expect", "proxy-connection", "trailer", "transfer-encoding", "upgrade"]);

/** Reads bytes as one request. `incomplete`: they may become one; `other`: Node must read them. */
export function readFastPathRequest(bytes: Buffer, maxBodyBytes: number): FastPathRequest | "incomplete" | "other" {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return bytes.length < mostHeadBytes && begins(bytes) ? "incomplete" : "other";
  if (end > mostHeadBytes) return "other";
  const head = bytes.toString("latin1", 0, end + 2);
  const [first, url] = requestLine.exec(head) ?? [];
  const path = ingestPath(url ?? "");
  const headers = headersOf(head, first?.length ?? 0);
  if (!path || headers?.["host"] === undefined || hasBrokenEscape(url ?? "")) return "other";
  const length = headers["content-length"];
  if (length === undefined || !/^\d{1,7}$/.test(length) || Number(length) > maxBodyBytes) return "other";
  const body = bytes.subarray(end + headEnd.length);
  if (body.length !== Number(length)) return body.length < Number(length) ? "incomplete" : "other";
  return { path, headers, body };
}

function begins(bytes: Buffer): boolean {
  return opening.startsWith(bytes.toString("latin1", 0, opening.length));
}

function headersOf(head: string, start: number): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (headerLine.lastIndex = start; headerLine.lastIndex < head.length;) {
    const [, written, value] = headerLine.exec(head) ?? [];
    if (written === undefined || value === undefined) return undefined;
    const name = written.toLowerCase();
    if (headers[name] !== undefined || (meaningful.has(name) && !isKeepAlive(name, value))) return undefined;
    headers[name] = value;
  }
  return headers;
}

function isKeepAlive(name: string, value: string): boolean {
  return name === "connection" && value.toLowerCase() === "keep-alive";
}
