import { json, problem } from "../../kernel/operations/description.ts";
import type { Operation } from "../../kernel/operations/operation.ts";
import { event, token, waitingEvent } from "../examples.ts";

const text = { type: "string", minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" };
const oneText = "Neither empty nor with control characters, and given once.";

export const ingestPrefix = "/api/v1/ingest/";

/** The way in for events, which has no route. */
export const ingestOperation: Operation = {
  method: "POST",
  path: `${ingestPrefix}:tenantId/:token`,
  security: "apiKey",
  id: "ingest",
  tag: "Ingest",
  summary: "Post an event",
  description:
    "202 means that the event is on disk. With an `X-Idempotency-Key` the request can be repeated: of all requests " +
    "with one key, one creates the event and the others return it, even while the destination refuses new events. " +
    "With a `dst_` token, and with a sender without a mapping, the bytes received are the " +
    "bytes delivered. Checks come in this order: API key, token prefix, tenant, key's tenant, token, token's " +
    "tenant, idempotency key, the headers that tell of the event, body, duplicate, what the sender's mapping makes " +
    "of the body, sender, destination.",
  parameters: {
    tenantId: "The tenant's id.",
    token: {
      description:
        "An ingest token. `dst_` names a destination and the payload is delivered unchanged, `sndr_` a sender " +
        "whose mapping, if it has one, transforms it.",
      schema: { type: "string", pattern: "^(dst|sndr)_", examples: [`dst_${token}`] },
    },
  },
  headers: {
    "X-Idempotency-Key": {
      description:
        "Names the event within the tenant, whatever its destination and body, until it is purged: a second one " +
        "under it gets 200, and nothing is sent. Neither empty nor with control characters, and given once: two " +
        "such headers are 400.",
      schema: { ...text, examples: ["order-4711-paid"] },
    },
    "X-Event-Type": {
      description: `What kind of event it is. Lists can be filtered by it. ${oneText}`,
      schema: { ...text, examples: ["order.paid"] },
    },
    "X-Owner-Id": {
      description: `Your own name for the customer that it concerns. Lists can be filtered by it. ${oneText}`,
      schema: { ...text, examples: ["customer-42"] },
    },
    "X-Tags": {
      description:
        "Up to 10 tags, `name=value`, separated by commas: names of 1 to 32 of `a` to `z`, `0` to `9` and `_`, no " +
        "name twice; values of 1 to 128 characters without commas and control characters. Lists can be filtered " +
        "by them. A tag here takes the place of one that the sender's `searchFields` give.",
      schema: { ...text, maxLength: 8192, examples: ["order=4711,region=eu"] },
    },
  },
  examples: { order: { type: "order.paid", amount: 19.9 } },
  answers: {
    200: json("duplicate", "An event with this idempotency key exists; nothing was accepted.", {
      eventId: event.id, ...event,
    }),
    202: json("acceptance", "Accepted for delivery.", {
      eventId: waitingEvent.id, status: "Pending", acceptedAt: waitingEvent.acceptedAt,
    }),
    400: problem(
      "The token has an unknown prefix, the idempotency key or another header is not valid, the body is not a JSON " +
        "object, or the mapping does not yield an object.",
      "token: must begin with dst_ or sndr_", "X-Idempotency-Key: must not be empty",
      "X-Tags: must be name=value, separated by commas", "body: must be valid JSON",
      "body: the sender's mapping yields an array, not an object",
    ),
    403: problem(
      "The API key or the ingest token belongs to another tenant.",
      "the API key belongs to another tenant", "the ingest token belongs to another tenant",
    ),
    404: problem("No such tenant or ingest token.", "tenant not found", "ingest token not found"),
    409: problem(
      "Another idempotency key, of whichever tenant, gives the same event id: expected once in 2^74 pairs of keys.",
      "X-Idempotency-Key: gives the id of another key's event; post this one under another key",
    ),
    413: problem(
      "The body is larger than `RELAY_MAX_BODY_BYTES`, 256 KiB by default, or the event is over 1 MiB in the log.",
      "body: must be at most 262144 bytes", "body: is too large for the log to keep as one event",
    ),
    422: {
      ...problem(
        "The destination or the sender accepts nothing new.",
        "the destination is suspended until 2026-02-01T00:04:59.412Z", "the sender is inactive",
        "the sender's destination was deleted",
      ),
      headers: {
        "Retry-After": {
          description: "Of a suspended destination: in how many seconds it is tried again, at the earliest.",
          required: false,
          schema: { type: "integer", minimum: 1 },
        },
      },
    },
    503: problem(
      "The storage cannot be reached or is overloaded, or the mapping waited too long. The event may be stored " +
        "after all: post it again under the same idempotency key.",
      "the service cannot reach its storage; try again",
    ),
  },
  body: {
    schema: {
      type: "object",
      additionalProperties: true,
      description: "Any JSON object in UTF-8, nested at most 128 deep.",
    },
  },
};

/** The variable parts of an ingest path, decoded. */
export interface IngestPath {
  readonly tenant: string;
  readonly token: string;
}

/** The parts of an ingest path, or undefined for any other URL, one with a dot segment included. */
export function ingestPath(url: string): IngestPath | undefined {
  if (!url.startsWith(ingestPrefix)) return undefined;
  const query = url.indexOf("?");
  const [tenant, token, ...more] = url.slice(ingestPrefix.length, query < 0 ? undefined : query).split("/");
  if (!tenant || !token || more.length > 0) return undefined;
  const path = { tenant: decode(tenant), token: decode(token) };
  return isDots(path.tenant) || isDots(path.token) ? undefined : path;
}

function isDots(segment: string): boolean {
  return segment === "." || segment === "..";
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
