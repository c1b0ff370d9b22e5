import type { Server } from "node:http";
import { createServer, type AddressInfo, type Server as AnyServer, type Socket } from "node:net";

const lookAgainMs = 50;

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "RELAY_PORT: the port is in use by another process",
  EACCES: "RELAY_PORT: this user may not listen on the port",
  EADDRNOTAVAIL: "RELAY_HOST: this machine has no such address",
  // An unknown interface after the address's %.
  EINVAL: "RELAY_HOST: this machine has no such address",
  EAFNOSUPPORT: "RELAY_HOST: this machine has no addresses of this kind",
  ENOTFOUND: "RELAY_HOST: the name is not known",
  EAI_AGAIN: "RELAY_HOST: the name cannot be resolved",
};

/** Rejects as {@link Listener.listen} would. */
export async function tryListening(host: string, port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

function listen(server: AnyServer, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = reasons[error.code ?? ""];
      reject(reason === undefined ? error : new Error(`${reason} (${host}:${port})`, { cause: error }));
    });
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      resolve(`http://${family === "IPv6" ? `[${address}]` : address}:${bound}`);
    });
  });
}

/** Starts and stops a server; requests under way may end. */
export class Listener {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  /** Resolves to the URL. Rejects with an error that names the variable to change. */
  listen(host: string, port: number): Promise<string> {
    return listen(this.#server, host, port);
  }

  /** Refuses new connections, and cuts off requests that do not end within `patienceMs`. */
  async close(patienceMs: number): Promise<void> {
    const server = this.#server;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Repeated: a connection turns idle only after its answer.
    const again = setInterval(() => {
      server.closeIdleConnections();
      this.#endSilentConnections();
    }, lookAgainMs);
    const cut = setTimeout(() => server.closeAllConnections(), patienceMs);
    await closed;
    clearInterval(again);
    clearTimeout(cut);
  }

  /** Node counts a connection as busy until its first request is done, even if nothing was sent. */
  #endSilentConnections(): void {
    for (const socket of this.#connections) if (socket.bytesRead === 0) socket.destroy();
  }
}
