import { Server, type RequestListener, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { requestIdOf } from "../../kernel/callers/input-rules.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import { addressOwner } from "../../kernel/ports/passwords.ts";
import { plainAnswer } from "../answers/send.ts";
import { RequestMemory, type SharedMemory } from "../memory/request-memory.ts";
import { clientAddress } from "../requests/client-address.ts";
import { jsonObjectOf } from "../requests/json-body.ts";
import type { AnswerIngest } from "./answer.ts";
import { readFastPathRequest, type FastPathRequest } from "./fast-path-request.ts";

/** The server's side of a fast-path connection. */
export interface FastPathHost {
  readonly answerIngest: AnswerIngest;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly memory: SharedMemory;
  /** The largest body of a fast-path request, bytes. */
  readonly maxBodyBytes: number;
  /** How long clients are told that a connection may stay idle between requests, milliseconds. */
  readonly keepAliveMs: number;
  /** How long it really may, milliseconds: longer, since a request may be under way already. */
  readonly idleMs: number;
  /** How long the first bytes of a connection, or the next piece of a request, may be missing, milliseconds. */
  readonly silenceMs: number;
  /** How long a client may take nothing more of its last answer, milliseconds; up to twice that, by Node's timer. */
  readonly answerMs: number;
  /** Whether an answer given now is to be its connection's last. */
  closing(): boolean;
  /** Takes a connection over for good; its socket gives the bytes of unanswered requests once more. */
  handOver(connection: FastPathConnection, socket: Socket): void;
  /** Answers a client that ended in the middle of a request. */
  refuseBroken(socket: Socket): void;
}

type PlainService = Omit<FastPathHost, "closing" | "handOver" | "refuseBroken">;
const mostPieces = 4;
/** A request of at most so many bytes is not counted in the shared memory: it is answered or handed over in moments. */
const uncountedRequestBytes = 16 * 1024;
/** The empty line that some clients send after a body. */
const emptyLine = Buffer.from("\r\n");
const noHeaderTwice: readonly string[] = [];

/** Node's HTTP server, except that fast-path requests to ingest are read and answered past it. */
export class FastPathServer extends Server {
  readonly #connections = new Set<FastPathConnection>();

  constructor(options: ServerOptions, serve: RequestListener, service: PlainService) {
    super(options, serve);
    const [serveConnection] = this.listeners("connection") as [(socket: Socket) => void];
    this.off("connection", serveConnection);
    const host: FastPathHost = {
      ...service,
      closing: () => !this.listening,
      handOver: (connection, socket) => {
        this.#connections.delete(connection);
        serveConnection.call(this, socket);
      },
      refuseBroken: (socket) => this.emit("clientError", new Error("ended in the middle of a request"), socket),
    };
    this.on("connection", (socket) => {
      const connection = new FastPathConnection(socket, host);
      this.#connections.add(connection);
      socket.once("close", () => {
        this.#connections.delete(connection);
        connection.closed();
      });
    });
  }

  /** Ends connections without a request under way; `close()` does that, too. */
  override closeIdleConnections(): void {
    super.closeIdleConnections();
    for (const connection of this.#connections) connection.endIfIdle();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const connection of this.#connections) connection.destroy();
  }
}

/**
 * A connection for as long as it brings only fast-path requests, each after the answer to the one before. Any other
 * bytes hand the connection over to Node's HTTP server, which knows all of HTTP and is patient with slow clients within
 * its limits.
 */
export class FastPathConnection {
  readonly #socket: Socket;
  readonly #host: FastPathHost;
  /** The bytes of an incomplete request, or bytes behind a request that is being answered. */
  #received: Buffer | null = null;
  #pieces = 0;
  #state: "fresh" | "answering" | "idle" | "ending" = "fresh";
  #halfClosed = false;
  /** Since when it waits for its next request; monotonic, milliseconds. */
  #idleSince = 0;
  /** The shared memory that a large request, or its large answer, holds. */
  #memory: RequestMemory | null = null;

  /** Takes a socket that nothing was read from. */
  constructor(socket: Socket, host: FastPathHost) {
    this.#socket = socket;
    this.#host = host;
    socket.setTimeout(host.silenceMs);
    socket.on("data", this.#receive).on("timeout", this.#silent).on("end", this.#halfClose).on("error", ignore);
  }

  /** Ends the connection if it waits for a request. */
  endIfIdle(): void {
    if (this.#state === "idle" && !this.#received) this.#end();
  }

  /** Ends the connection at once, also in the middle of a request. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives back the connection's share of the shared memory; to be called once its socket is closed. */
  closed(): void {
    this.#memory?.end();
  }

  readonly #receive = (chunk: Buffer): void => {
    // Nothing is answered after the connection's last answer.
    if (this.#state === "ending") return;
    const bytes = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    // Node ignores an empty line behind a request that it has read itself; handed over, it would count as the beginning
    // of the next, for which Node waits 10 s.
    if (this.#state !== "fresh" && bytes.equals(emptyLine)) return this.#idleOn();
    this.#received = bytes;
    if (this.#state === "answering") {
      // Handed over once the answer is written; until then nothing more is read.
      this.#socket.pause();
      return;
    }
    const request = readFastPathRequest(bytes, this.#host.maxBodyBytes);
    if (bytes.length > uncountedRequestBytes && !this.#ownMemory().take(bytes.length)) this.#handOver();
    else if (request === "incomplete" && (this.#pieces += 1) < mostPieces) {
      this.#socket.setTimeout(this.#host.silenceMs);
    } else if (typeof request === "string") this.#handOver();
    else {
      this.#received = null;
      this.#pieces = 0;
      this.#state = "answering";
      void this.#answer(request);
    }
  };

  async #answer({ path, headers, body: bytes }: FastPathRequest): Promise<void> {
    const { answerIngest, ids, clock, keepAliveMs, idleMs } = this.#host;
    const requestId = requestIdOf({ headers }, ids);
    const body = () => jsonObjectOf({ headers }, bytes);
    const answer = await answerIngest({
      path, headers, rawHeaders: noHeaderTwice, requestId, body, holdAnswer: this.#holdAnswer,
    });
    await endOfTurn();
    const socket = this.#socket;
    if (!socket.writable) return;
    const last = this.#halfClosed || answer.status === 413 || this.#host.closing();
    const text = plainAnswer(answer, requestId, { now: clock.now(), keepAliveMs: last ? null : keepAliveMs });
    const memory = this.#memory;
    this.#memory = null;
    if (memory) socket.write(text, () => memory.end());
    else socket.write(text);
    if (last) this.#end();
    else {
      this.#state = "idle";
      this.#idleSince = clock.monotonic();
      if (this.#received || socket.writableLength > 0) this.#handOver();
      else if (socket.timeout !== idleMs) socket.setTimeout(idleMs);
    }
  }

  readonly #silent = (): void => {
    if (this.#state === "fresh" || (this.#state === "idle" && this.#received)) this.#handOver();
    else if (this.#state !== "answering") this.#socket.destroy();
  };

  /** Sets an idle connection's timer to the rest of its time: the bytes that came have restarted Node's timer. */
  #idleOn(): void {
    if (this.#state !== "idle") return;
    const { clock, idleMs } = this.#host;
    const left = this.#idleSince + idleMs - clock.monotonic();
    if (left > 0) this.#socket.setTimeout(left);
    else this.#socket.destroy();
  }

  readonly #holdAnswer = async (tenantId: string, bytes: number): Promise<void> => {
    // Memory taken for a closed connection would never be given back.
    if (!this.#socket.destroyed) await this.#ownMemory().hold(tenantId, bytes);
  };

  #ownMemory(): RequestMemory {
    // The client's address in a proxy's header is known only once the request is whole.
    const network = () => addressOwner(clientAddress({ socket: this.#socket, headers: {} }, 0));
    return this.#memory ??= new RequestMemory(this.#host.memory, network);
  }

  /** The client sends no more, but may wait for an answer. */
  readonly #halfClose = (): void => {
    this.#halfClosed = true;
    if (this.#state === "answering") return;
    if (this.#received) this.#host.refuseBroken(this.#socket);
    this.#end();
  };

  /** Closes the connection once its client has taken its last answer. */
  #end(): void {
    this.#state = "ending";
    this.#received = null;
    this.#socket.setTimeout(this.#host.answerMs).destroySoon();
  }

  #handOver(): void {
    const socket = this.#socket;
    socket.off("data", this.#receive).off("timeout", this.#silent).off("end", this.#halfClose).off("error", ignore);
    if (this.#received) socket.unshift(this.#received);
    // Not to be kept in memory: the server refers to this object until the connection closes.
    this.#received = null;
    this.#memory?.end();
    this.#memory = null;
    this.#host.handOver(this, socket);
    socket.resume();
  }
}

let turnEnding: Promise<void> | undefined;

/**
 * Resolves for all whose answers are ready in this turn together. Written one right after the other, a commit's answers
 * find their reader awake; to wake it for each costs more than the rest of a write.
 */
function endOfTurn(): Promise<void> {
  return turnEnding ??= new Promise((resolve) => process.nextTick(() => {
    turnEnding = undefined;
    resolve();
  }));
}

function ignore(): void {
  // A connection that breaks closes, too.
}
