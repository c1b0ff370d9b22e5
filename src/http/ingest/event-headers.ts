import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { refuse } from "../../kernel/domain/refusal.ts";
import { isTagName, isTagValue, mostTags, type Tags } from "../../kernel/domain/tags.ts";

const mostCharacters = 255;
const longestTraceparent = 256;
const fields = "(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}";
/** Version 00 has just these fields; later ones may have more. No comma: Node joins repeated headers by commas. */
const form = new RegExp(`^(?:00-${fields}|(?!00|ff)[0-9a-f]{2}-${fields}(?:-[!-+\\--~]*)?)$`);

/** The headers of a request. */
export interface GivenHeaders {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

/** A producer's headers about an event. */
export interface EventHeaders {
  readonly idempotencyKey: string | undefined;
  readonly eventType: string | undefined;
  readonly ownerId: string | undefined;
  readonly tags: Tags | undefined;
}

/** Throws a Refusal (invalid) that names the first header that is not valid. */
export function readEventHeaders(given: GivenHeaders): EventHeaders {
  return {
    idempotencyKey: textOf(given, "X-Idempotency-Key", "x-idempotency-key"),
    eventType: textOf(given, "X-Event-Type", "x-event-type"),
    ownerId: textOf(given, "X-Owner-Id", "x-owner-id"),
    tags: tagsOf(given.headers),
  };
}

/** A valid `traceparent` (W3C Trace Context) of at most 256 characters; a present version takes 55. */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const { traceparent } = headers;
  const isValid = typeof traceparent === "string" && traceparent.length <= longestTraceparent && form.test(traceparent);
  return isValid ? traceparent : undefined;
}

/** The value of a header that is sent at most once. */
export function oneHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** `name`: in lower case. A bad header is refused, since it cannot be ignored without loss. */
function textOf({ headers, rawHeaders }: GivenHeaders, shown: string, name: string): string | undefined {
  const header = oneHeader(headers, name);
  if (header === undefined) return undefined;
  // Node joins repeated headers by this; a value may contain it, too.
  if (header.includes(", ") && countOf(rawHeaders, name) > 1) refuse("invalid", `${shown}: must be given once`);
  const isPlain = isPlainAscii(header);
  const text = isPlain ? header : decoded(header);
  if (text === "") refuse("invalid", `${shown}: must not be empty`);
  if ((isPlain ? text.length : [...text].length) > mostCharacters) {
    refuse("invalid", `${shown}: must be at most ${mostCharacters} characters long`);
  }
  if (!isPlain && /\p{Cc}/u.test(text)) refuse("invalid", `${shown}: must not contain control characters`);
  return text;
}

/** An HTTP list: in one or more headers, with spaces around its commas. */
function tagsOf(headers: IncomingHttpHeaders): Tags | undefined {
  const header = oneHeader(headers, "x-tags");
  if (header === undefined) return undefined;
  const items = decoded(header).split(",").map((item) => item.replace(/^[ \t]+|[ \t]+$/g, ""));
  if (items.length > mostTags) refuse("invalid", `X-Tags: must be at most ${mostTags} tags`);
  const tags = new Map<string, string>();
  for (const item of items) {
    const end = item.indexOf("=");
    const [name, value] = [item.slice(0, Math.max(end, 0)), item.slice(end + 1)];
    if (end < 0) refuse("invalid", "X-Tags: must be name=value, separated by commas");
    if (!isTagName(name)) refuse("invalid", "X-Tags: a name must be 1 to 32 of a to z, 0 to 9 and _");
    if (!isTagValue(value)) refuse("invalid", "X-Tags: a value must be 1 to 128 characters, no control characters");
    if (tags.has(name)) refuse("invalid", `X-Tags: ${name} must be given once`);
    tags.set(name, value);
  }
  return Object.fromEntries(tags);
}

function isPlainAscii(header: string): boolean {
  return /^[\x20-\x7e]*$/.test(header);
}

/** Node reads headers as Latin-1; a client that sends more than ASCII sends UTF-8. */
function decoded(header: string): string {
  if (isPlainAscii(header)) return header;
  const bytes = Buffer.from(header, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : header;
}

function countOf(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}
