import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { requestIdOf } from "../kernel/callers/input-rules.ts";
import type { Clock } from "../kernel/ports/clock.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import { plainText, send, sendUnasked } from "./answers/send.ts";
import { type FastPathHost, FastPathServer } from "./ingest/fast-path-server.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import { illegalTarget, originForm } from "./requests/target.ts";

/** How long clients may take, milliseconds; one that is slower is cut off. */
export interface Patience {
  /** To send a whole head. */
  readonly headers: number;
  /** To send a whole request. */
  readonly request: number;
  /** To take any more of an answer; up to twice as long, as Node's timer starts again if some of it was taken. */
  readonly answer: number;
  /** The interval of checks of a request's limits: a slow client may be cut off so much later. */
  readonly checkEvery: number;
  /**
   * To send the first bytes of a connection, or the next piece of a fast-path request. A slower client is not cut
   * off: Node's HTTP server takes over, and the limits above count.
   */
  readonly silence: number;
}

/** How long a connection may stay idle between requests; longer than a load balancer's own 60 s. */
const keepAliveMs = 65_000;
/** How long an idle connection is kept, by Node too: a request may be under way when the announced time is over. */
const idleMs = keepAliveMs + 1_000;
const usualPatience: Patience = { headers: 10_000, request: 30_000, answer: 15_000, checkEvery: 1_000, silence: 500 };
const headerBytes = 16_384;
/** Bytes that Node buffers of a body or an answer before it waits; it still reads pieces of up to 64 KiB. */
const bufferBytes = 16_384;

/** The answers to unparsable requests, by the code of the parser's error. */
const unparsable: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, `headers: must be at most ${headerBytes} bytes, the request line included`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "body: its chunks have extensions that are too large"],
  HPE_INVALID_HEADER_TOKEN: [400, "headers: each must be one line: name, colon right after it, no control characters"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long"],
};

/** Optional parts of a server besides its app. */
export interface ServerParts {
  /** Answers fast-path requests to ingest; without it the app answers them. */
  readonly plain?: Pick<FastPathHost, "answerIngest" | "memory" | "maxBodyBytes">;
  readonly patience?: Patience;
}

/**
 * An HTTP server, not yet listening. Its app gets every request target in origin form. Unparsable requests are answered
 * in a line of text, too. While the server closes, answers tell clients to reconnect.
 */
export function createHttpServer(
  app: RequestListener,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  { plain, patience = usualPatience }: ServerParts = {},
): Server {
  const pipelined = new PipelinedRequests();
  const idleLimit = new IdleLimit(clock, idleMs);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false;
    // A client that waits for its answer, or the rest of it, may be silent: only one that does not take it is cut off.
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
  // A client that sends no more may wait for answers. Node's documentation and types leave it out.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Set for the connection, which costs less than for each of its answers.
  server.timeout = patience.answer;
  // The body's reader says "continue" once it is known that the body is wanted.
  server.on("checkContinue", serve);
  server.on("checkExpectation", inTurn(refuseExpectation));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => pipelined.refuse(socket, () => {
    const [status, text] = unparsable[error.code ?? ""] ?? [400, "the request is not HTTP/1.1 that can be read"];
    if (socket.writable) sendUnasked(socket, status, text, ids.uuid());
  }));
  return server;
}

/** A connection that had a request. */
interface Served {
  /** Requests that are not answered yet. */
  unanswered: number;
  /** When its last answer was sent; monotonic, milliseconds. */
  idleSince: number;
}

/**
 * Ends connections that are idle for too long after an answer. Node restarts its own timer with every byte, even with
 * empty lines, which it ignores between requests.
 */
export class IdleLimit {
  readonly #clock: Pick<Clock, "monotonic" | "schedule">;
  readonly #ms: number;
  readonly #served = new WeakMap<Duplex, Served>();

  /** `ms`: from an answer to the end of the next request's head. */
  constructor(clock: Pick<Clock, "monotonic" | "schedule">, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** A request has come; its connection is not idle until the answer is sent. */
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
