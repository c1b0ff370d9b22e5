import { hash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "../support/child.ts";
import { LeastLog } from "../support/least-log.ts";

export type BareServerApi = {
  /** Listens on a free port of 127.0.0.1 and answers it. `keeping`: each body is kept before it is answered. */
  listen(how: { readonly keeping: boolean }): Promise<number>;
  /** Resolves once all kept events are listed. */
  listed(input: null): Promise<void>;
};

const accepted = JSON.stringify({
  eventId: "00000000-0000-4000-8000-000000000000",
  status: "Pending",
  acceptedAt: "2026-01-01T00:00:00.000Z",
});
let log: LeastLog | undefined;

/** The least an ingest endpoint can do: reads the body and answers 202. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const answer = () => {
      response.writeHead(body.length > 0 ? 202 : 400, {
        "content-type": "application/json",
        "content-length": accepted.length,
      });
      response.end(accepted);
    };
    if (log) void keep(log, request, body).then(answer);
    else answer();
  });
});

/** The least record of an event: named by its idempotency key, valid JSON, with its sender and time. */
function keep(log: LeastLog, { headers }: IncomingMessage, body: Buffer): Promise<void> {
  const payload = body.toString();
  JSON.parse(payload);
  const idempotencyKey = headers["x-idempotency-key"];
  const eventId = hash("sha1", String(idempotencyKey));
  const apiKey = hash("sha256", String(headers["x-api-key"]));
  const at = new Date().toISOString();
  const data = { eventId, destinationId: "a destination", idempotencyKey, payload, at };
  const metadata = { actor: { type: "apiKey", id: apiKey }, correlationId: randomUUID(), time: at };
  return log.append({ id: randomUUID(), type: "EventAccepted", data, metadata });
}

const api: BareServerApi = {
  listen({ keeping }) {
    if (keeping) log = new LeastLog();
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  },
  async listed() {
    await log?.listed();
  },
};

serve(api);
