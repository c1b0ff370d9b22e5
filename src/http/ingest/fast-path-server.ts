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
  readonly maxBodyBytes: number;
  /** The idle time that answers announce. */
  readonly keepAliveMs: number;
  /** The real idle time: longer, since a request may be under way. */
  readonly idleMs: number;
  /** The longest wait for the first bytes, or for the next piece of a request. */
  readonly silenceMs: number;
  /** The longest pause of a client in reading its last answer. */
  readonly answerMs: number;
  closing(): boolean;
  /** Takes over a connection; its socket returns the unanswered bytes again. */
  handOver(connection: FastPathConnection, socket: Socket): void;
  refuseBroken(socket: Socket): void;
}

type PlainService = Omit<FastPathHost, "closing" | "handOver" | "refuseBroken">;
const mostPieces = 4;
/** Smaller requests are not counted in the shared memory: they pass in moments. */
const uncountedRequestBytes = 16 * 1024;
const emptyLine = Buffer.from("\r\n");
const noHeaderTwice: readonly string[] = [];

/** Node's HTTP server with a fast path for ingest. */
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

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    for (const connection of this.#connections) connection.endIfIdle();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const connection of this.#connections) connection.destroy();
  }
}

/** A connection of fast-path requests, each after the last answer. At other bytes Node's HTTP server takes over. */
export class FastPathConnection {
  readonly #socket: Socket;
  readonly #host: FastPathHost;
  /** Bytes of an incomplete request, or behind the request being answered. */
  #received: Buffer | null = null;
  #pieces = 0;
  #state: "fresh" | "answering" | "idle" | "ending" = "fresh";
  #halfClosed = false;
  #idleSince = 0;
  /** Held by a large request or its large answer. */
  #memory: RequestMemory | null = null;

  /** `socket`: nothing was read from it yet. */
  constructor(socket: Socket, host: FastPathHost) {
    this.#socket = socket;
    this.#host = host;
    socket.setTimeout(host.silenceMs);
    socket.on("data", this.#receive).on("timeout", this.#silent).on("end", this.#halfClose).on("error", ignore);
  }

  endIfIdle(): void {
    if (this.#state === "idle" && !this.#received) this.#end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  closed(): void {
    this.#memory?.end();
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#state === "ending") return;
    const bytes = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    // Handed over, an empty line would count as the begin of a request, for which Node waits 10 s.
    if (this.#state !== "fresh" && bytes.equals(emptyLine)) return this.#idleOn();
    this.#received = bytes;
    if (this.#state === "answering") {
      // Handed over after the answer; until then nothing is read.
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

  /** Restores the idle timer, which the received bytes have restarted. */
  #idleOn(): void {
    if (this.#state !== "idle") return;
    const { clock, idleMs } = this.#host;
    const left = this.#idleSince + idleMs - clock.monotonic();
    if (left > 0) this.#socket.setTimeout(left);
    else this.#socket.destroy();
  }

  readonly #holdAnswer = async (tenantId: string, bytes: number): Promise<void> => {
    // A closed connection would never release memory.
    if (!this.#socket.destroyed) await this.#ownMemory().hold(tenantId, bytes);
  };

  #ownMemory(): RequestMemory {
    // A proxy's header is known only with the whole request.
    const network = () => addressOwner(clientAddress({ socket: this.#socket, headers: {} }, 0));
    return this.#memory ??= new RequestMemory(this.#host.memory, network);
  }

  readonly #halfClose = (): void => {
    this.#halfClosed = true;
    if (this.#state === "answering") return;
    if (this.#received) this.#host.refuseBroken(this.#socket);
    this.#end();
  };

  #end(): void {
    this.#state = "ending";
    this.#received = null;
    this.#socket.setTimeout(this.#host.answerMs).destroySoon();
  }

  #handOver(): void {
    const socket = this.#socket;
    socket.off("data", this.#receive).off("timeout", this.#silent).off("end", this.#halfClose).off("error", ignore);
    if (this.#received) socket.unshift(this.#received);
    // Freed: the server refers to this object until the connection closes.
    this.#received = null;
    this.#memory?.end();
    this.#memory = null;
    this.#host.handOver(this, socket);
    socket.resume();
  }
}

let turnEnding: Promise<void> | undefined;

/** Resolves together for all answers of a turn: written in a row, they wake their reader once. */
function endOfTurn(): Promise<void> {
  return turnEnding ??= new Promise((resolve) => process.nextTick(() => {
    turnEnding = undefined;
    resolve();
  }));
}

function ignore(): void {
  // A connection that breaks closes, too.
}
