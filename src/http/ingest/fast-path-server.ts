import { Server, type RequestListener, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { FastPathConnection, type FastPathHost } from "./fast-path-connection.ts";

type PlainService = Omit<FastPathHost, "closing" | "handOver" | "refuseBroken">;

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
