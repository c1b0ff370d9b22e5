import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Requests of one connection, some kilobytes each: far more than real ones, with their headers, ever come at once. */
const mostWaiting = 256;

/**
 * Serves the requests of each connection one after the other. Node hands over every pipelined request that has come,
 * which may be thousands in one piece; here each begins when the answer before it is finished, and no more are read
 * while one waits.
 */
export class PipelinedRequests {
  /** The response to the newest request of each connection. */
  readonly #newest = new WeakMap<Duplex, ServerResponse>();
  /** How many requests of each connection wait. */
  readonly #waiting = new WeakMap<Duplex, number>();
  readonly #refused = new WeakSet<Duplex>();

  /** Serves a request once all before it on its connection are answered; never if the connection closes before. */
  serve(listener: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.#newest.set(socket, response);
    // A response has the socket from its turn until it is finished.
    if (response.socket) return listener(request, response);
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    if (waiting > mostWaiting) return void socket.destroy();
    this.#waiting.set(socket, waiting);
    holdBack(socket);
    if (!this.#refused.has(socket)) this.#atTurn(response, () => listener(request, response));
  }

  /**
   * Refuses the unreadable bytes that a connection sent last, and all behind them: calls `refuse` when all requests
   * before them are answered. If they belong to a request whose answer has begun, destroys the connection instead.
   */
  refuse(socket: Duplex, refuse: () => void): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const response = this.#newest.get(socket);
    if (!response || (response.req.complete && response.writableFinished)) refuse();
    else if (response.req.complete) response.once("close", refuse);
    else if (response.headersSent) socket.destroy();
    else if (response.socket) refuse();
    else this.#atTurn(response.removeAllListeners("socket"), refuse);
  }

  #atTurn(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    response.once("socket", () => {
      const waiting = this.#waiting.get(socket)! - 1;
      this.#waiting.set(socket, waiting);
      if (waiting === 0) readOn(socket);
      begin();
    });
  }
}

/** Reads no more, even where Node would: once the message at hand is complete, or some of an answer is taken. */
function holdBack(socket: Duplex): void {
  socket.off("resume", pause).on("resume", pause).pause();
}

function readOn(socket: Duplex): void {
  socket.off("resume", pause).resume();
}

function pause(this: Duplex): void {
  this.pause();
}
