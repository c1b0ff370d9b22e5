import type { Server } from "node:http";
import { createServer, type AddressInfo, type Server as AnyServer, type Socket } from "node:net";

const lookAgainMs = 50;

/** The reason why an address cannot be listened on, by the code of the error. */
const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "RELAY_PORT: the port is in use by another process",
  EACCES: "RELAY_PORT: this user may not listen on the port",
  EADDRNOTAVAIL: "RELAY_HOST: this machine has no such address",
  // The interface after an address's % does not exist.
  EINVAL: "RELAY_HOST: this machine has no such address",
  EAFNOSUPPORT: "RELAY_HOST: this machine has no addresses of this kind",
  ENOTFOUND: "RELAY_HOST: the name is not known",
  EAI_AGAIN: "RELAY_HOST: the name cannot be resolved",
};

/**
 * Listens for a moment and stops again. Rejects as {@link Listener.listen} would. A start that fails at this first step
 * has made nothing, and clients are refused until the relay is ready.
 */
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

/** Lets a server listen, and stops that without cutting requests off. */
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

  /** Starts to listen; resolves to the URL. Rejects with an error that names the variable to change. */
  listen(host: string, port: number): Promise<string> {
    return listen(this.#server, host, port);
  }

  /** Takes no more connections and lets requests under way end; those that do not within `patienceMs` are cut off. */
  async close(patienceMs: number): Promise<void> {
    const server = this.#server;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Repeated, since a connection turns idle only after its answer, which promised keep-alive, and since a silent
    // connection's first bytes may be about to be read.
    const again = setInterval(() => {
      server.closeIdleConnections();
      this.#endSilentConnections();
    }, lookAgainMs);
    const cut = setTimeout(() => server.closeAllConnections(), patienceMs);
    await closed;
    clearInterval(again);
    clearTimeout(cut);
  }

  /** Node takes a connection for busy until its first request is done, and would wait for one that sends nothing. */
  #endSilentConnections(): void {
    for (const socket of this.#connections) if (socket.bytesRead === 0) socket.destroy();
  }
}
