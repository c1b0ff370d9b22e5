import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Far more than real clients send at once; some kilobytes each. */
const mostWaiting = 256;

/** Serves a connection's requests one after the other: Node hands over every pipelined request, perhaps thousands. */
export class PipelinedRequests {
  readonly #newest = new WeakMap<Duplex, ServerResponse>();
  readonly #waiting = new WeakMap<Duplex, number>();
  readonly #refused = new WeakSet<Duplex>();

  /** Serves a request after all before it on its connection. */
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

  /** Calls `refuse` for unreadable bytes after the answers before them, or cuts off a request with an answer begun. */
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

function holdBack(socket: Duplex): void {
  socket.off("resume", pause).on("resume", pause).pause();
}

function readOn(socket: Duplex): void {
  socket.off("resume", pause).resume();
}

function pause(this: Duplex): void {
  this.pause();
}
