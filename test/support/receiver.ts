import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { makeAuthority, type Authority } from "./tls.ts";

/** A request as it came in. */
export interface ReceivedRequest {
  /** When its head was there, `performance.now()` milliseconds. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body, undecoded. */
  readonly body: Buffer;
  /** Which connection it came by, counted from 1. */
  readonly connection: number;
  /** The name its TLS was asked for; empty when called by address. */
  readonly servername: string;
  /** SHA-256 of the certificate that its TLS showed, hex; empty without one. */
  readonly clientFingerprint: string;
  /** How many requests this path has had, this one included. */
  readonly count: number;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  readonly delayMs?: number;
}

/** How to answer; "silence" never does. */
export type Script = (request: ReceivedRequest) => Reply | "silence" | Promise<Reply | "silence">;

export interface ReceiverOptions {
  /** The authority that signs its certificate; a new one when left out. */
  readonly authority?: Authority;
  /** Names and addresses of its certificate. */
  readonly certifiedFor?: readonly string[];
  /** PEM of the authority whose certificates it demands of clients; it demands none when left out. */
  readonly clientCa?: string;
  readonly host?: string;
  readonly port?: number;
  /** For paths without a script of their own; 200 with an empty body when left out. */
  readonly script?: Script;
  /** False keeps no requests, only their number: for benchmarks. */
  readonly record?: boolean;
}

export interface Receiver {
  readonly port: number;
  /** PEM of the authority to trust. */
  readonly caPem: string;
  /** In order of arrival, complete ones only. */
  readonly requests: readonly ReceivedRequest[];
  /** Complete requests so far, recorded or not. */
  readonly received: number;
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** `https://<name>:<port><path>`. */
  url(path?: string, name?: string): string;
  /** Answers requests to a path (without query) so from now on. */
  on(path: string, script: Script): void;
  requestsTo(path: string): readonly ReceivedRequest[];
  /** Resolves when the condition holds; looked at whenever a request was answered. Rejects after `timeoutMs`. */
  waitFor(condition: (receiver: Receiver) => boolean, timeoutMs?: number): Promise<void>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Starts an HTTPS receiver with keep-alive that records its requests. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { authority = makeAuthority(), host = "127.0.0.1", record = true } = options;
  const scripts = new Map<string, Script>();
  const requests: ReceivedRequest[] = [];
  const counts = new Map<string, number>();
  const numbers = new WeakMap<object, number>();
  const watchers = new Set<() => void>();
  let received = 0;
  let connections = 0;

  const { clientCa } = options;
  const server = createServer({
    ...authority.issue(options.certifiedFor), keepAliveTimeout: 30_000,
    ...(clientCa !== undefined && { requestCert: true, ca: clientCa }),
  });
  server.on("connection", () => (connections += 1));
  server.on("secureConnection", (socket) => numbers.set(socket, connections));
  server.on("tlsClientError", () => {});
  server.on("request", (incoming, response) => {
    const at = performance.now();
    const path = incoming.url ?? "/";
    const plainPath = path.split("?", 1)[0] ?? path;
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const count = (counts.get(plainPath) ?? 0) + 1;
      counts.set(plainPath, count);
      received += 1;
      const request: ReceivedRequest = {
        at, path, count,
        method: incoming.method ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks),
        connection: numbers.get(incoming.socket) ?? 0,
        servername: (incoming.socket as TLSSocket).servername || "",
        clientFingerprint: clientCa === undefined ? "" : fingerprintOf(incoming.socket as TLSSocket),
      };
      if (record) requests.push(request);
      void answer(request, plainPath);
    });

    const answer = async (request: ReceivedRequest, scripted: string) => {
      const script = scripts.get(scripted) ?? options.script;
      const reply = script ? await script(request) : {};
      if (reply !== "silence") {
        if (reply.delayMs) await pause(reply.delayMs);
        response.writeHead(reply.status ?? 200, { ...reply.headers });
        response.end(reply.body);
      }
      for (const look of watchers) look();
    };
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;

  const receiver: Receiver = {
    port,
    caPem: authority.caPem,
    requests,
    get received() {
      return received;
    },
    get connections() {
      return connections;
    },
    url: (path = "/", name = "127.0.0.1") => `https://${name}:${port}${path}`,
    on: (path, script) => void scripts.set(path, script),
    requestsTo: (path) => requests.filter((request) => request.path.split("?", 1)[0] === path),
    waitFor: async (condition, timeoutMs = 30_000) => {
      if (condition(receiver)) return;
      await new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!condition(receiver)) return;
          stop();
          resolve();
        };
        const stop = () => {
          watchers.delete(look);
          clearTimeout(timer);
        };
        const timer = setTimeout(() => {
          stop();
          reject(new Error(`not within ${timeoutMs} ms; ${received} requests so far`));
        }, timeoutMs);
        watchers.add(look);
      });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return receiver;
}

function fingerprintOf(socket: TLSSocket): string {
  return socket.getPeerCertificate().fingerprint256.replaceAll(":", "").toLowerCase();
}
