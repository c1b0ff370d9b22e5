import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { requestIdOf } from "../kernel/callers/input-rules.ts";
import type { Clock } from "../kernel/ports/clock.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import { plainText, send, sendUnasked } from "./answers/send.ts";
import { FastPathServer, type FastPathHost } from "./ingest/fast-path-server.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import { illegalTarget, originForm } from "./requests/target.ts";

/** Limits for clients, milliseconds. */
export interface Patience {
  readonly headers: number;
  readonly request: number;
  /** Without progress of an answer; up to twice as long by Node's timer. */
  readonly answer: number;
  readonly checkEvery: number;
  /** For the first bytes of a connection or the next piece of a fast-path request; then Node's server takes over. */
  readonly silence: number;
}

/** The announced idle time; longer than a load balancer's own 60 s. */
const keepAliveMs = 65_000;
/** The real idle time: a request may be under way. */
const idleMs = keepAliveMs + 1_000;
const usualPatience: Patience = { headers: 10_000, request: 30_000, answer: 15_000, checkEvery: 1_000, silence: 500 };
const headerBytes = 16_384;
/** Node's buffer of a body or an answer; it still reads pieces of up to 64 KiB. */
const bufferBytes = 16_384;

/** By the parser's error code. */
const unparsable: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, `headers: must be at most ${headerBytes} bytes, the request line included`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "body: its chunks have extensions that are too large"],
  HPE_INVALID_HEADER_TOKEN: [400, "headers: each must be one line: name, colon right after it, no control characters"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};

/** Options of a server. */
export interface ServerParts {
  /** For the fast path; without it the app answers all requests. */
  readonly plain?: Pick<FastPathHost, "answerIngest" | "memory" | "maxBodyBytes">;
  readonly patience?: Patience;
}

/** An HTTP server, not yet listening, for an app that gets targets in origin form. */
export function createHttpServer(
  app: RequestListener,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  { plain, patience = usualPatience }: ServerParts = {},
): Server {
  const pipelined = new PipelinedRequests();
  const idleLimit = new IdleLimit(clock, idleMs);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false;
    // Only a client that does not read its answer is cut off.
    response.on("timeout", () => {
      if (request.socket.writableLength > 0) request.socket.destroy();
    });
    const refuse = (problem: string) => send(response, 400, plainText, problem, requestIdOf(request, ids));
    if (request.httpVersion === "1.1" && request.headers.host === undefined) return refuse("Host: is required");
    const target = originForm(request.url ?? "");
    if (target === null) return refuse(illegalTarget);
    request.url = target;
    app(request, response);
  };
  const refuseExpectation = (request: IncomingMessage, response: ServerResponse) =>
    send(response, 417, plainText, "Expect: must be 100-continue", requestIdOf(request, ids));
  const inTurn = (listener: RequestListener): RequestListener => (request, response) => {
    idleLimit.busyUntilClosed(response);
    pipelined.serve(listener, request, response);
  };
  const serve = inTurn(answer);
  const options = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    connectionsCheckingInterval: patience.checkEvery,
    maxHeaderSize: headerBytes,
    highWaterMark: bufferBytes,
    // Node's own answer has no explanation.
    requireHostHeader: false,
  };
  const server = plain
    ? new FastPathServer(options, serve, {
      ...plain, ids, clock, keepAliveMs, idleMs, answerMs: patience.answer, silenceMs: patience.silence,
    })
    : createServer(options, serve);
  // A client may half-close and wait. Node's documentation and types lack this.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Cheaper than for each answer.
  server.timeout = patience.answer;
  server.on("checkContinue", serve);
  server.on("checkExpectation", inTurn(refuseExpectation));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => pipelined.refuse(socket, () => {
    const [status, text] = unparsable[error.code ?? ""] ?? [400, "the request is not HTTP/1.1 that can be read"];
    if (socket.writable) sendUnasked(socket, status, text, ids.uuid());
  }));
  return server;
}

interface Served {
  unanswered: number;
  /** Monotonic ms. */
  idleSince: number;
}

/** Ends idle connections. Node's own timer restarts even at empty lines between requests. */
export class IdleLimit {
  readonly #clock: Pick<Clock, "monotonic" | "schedule">;
  readonly #ms: number;
  readonly #served = new WeakMap<Duplex, Served>();

  /** `ms`: from an answer to the next request's head. */
  constructor(clock: Pick<Clock, "monotonic" | "schedule">, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** The connection is busy until the response is closed. */
  busyUntilClosed(response: ServerResponse): void {
    const { socket } = response.req;
    const served = this.#served.get(socket) ?? this.#watched(socket);
    served.unanswered += 1;
    response.once("close", () => {
      served.unanswered -= 1;
      served.idleSince = this.#clock.monotonic();
    });
  }

  #watched(socket: Duplex): Served {
    const served: Served = { unanswered: 0, idleSince: 0 };
    this.#served.set(socket, served);
    const look = () => {
      const left = served.unanswered > 0 ? this.#ms : served.idleSince + this.#ms - this.#clock.monotonic();
      if (left > 0) timer = this.#clock.schedule(left, look);
      else socket.destroy();
    };
    let timer = this.#clock.schedule(this.#ms, look);
    socket.once("close", () => timer.cancel());
    return served;
  }
}
