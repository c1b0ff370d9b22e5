import { createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createOutboundClient, type OutboundSettings } from "../../../src/engines/outbound/client.ts";
import type { OutboundClient, OutboundRequest } from "../../../src/kernel/ports/outbound.ts";

/** A client that may call this machine. */
export function localClient(caPem: string, more: Partial<OutboundSettings> = {}): OutboundClient {
  return createOutboundClient({
    connectTimeoutMs: 3000, deliveryTimeoutMs: 5000, allowedNetworks: ["127.0.0.0/8"], extraCa: caPem, ...more,
  });
}

/** A small POST. */
export function request(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  const headers = { "Content-Type": "application/json" };
  return { url, headers, body: "{}", keepBytes: 16_384, timeoutMs: 60_000, ...more };
}

/** Lets a connection whose answer is complete become free: undici waits for the next turns of the event loop. */
export async function turn(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await setImmediate();
}

/** A listening socket that no request may reach. */
export interface Sink {
  readonly port: number;
  /** TCP connections that came nevertheless. */
  readonly connections: number;
  /** Bytes that came over these. */
  readonly bytes: number;
  close(): Promise<void>;
}

/** Starts a {@link Sink}. */
export async function startSink(host = "127.0.0.1"): Promise<Sink> {
  let connections = 0;
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on("error", () => {}));
    socket.on("data", (chunk) => (bytes += chunk.length));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get bytes() {
      return bytes;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
