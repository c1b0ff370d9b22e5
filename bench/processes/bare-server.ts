import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "../support/child.ts";

export type BareServerApi = {
  /** Listens on a free port of 127.0.0.1 and answers it. */
  listen(input: null): Promise<number>;
};

const accepted = JSON.stringify({
  eventId: "00000000-0000-4000-8000-000000000000",
  status: "Pending",
  acceptedAt: "2026-01-01T00:00:00.000Z",
});

/** The least an ingest endpoint can do: reads the body and answers 202. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    response.writeHead(body.length > 0 ? 202 : 400, {
      "content-type": "application/json",
      "content-length": accepted.length,
    });
    response.end(accepted);
  });
});

const api: BareServerApi = {
  listen: () =>
    new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    }),
};

serve(api);
