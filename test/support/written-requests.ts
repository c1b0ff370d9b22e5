import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Patience } from "../../src/http/server.ts";

/** So long that a slow machine is no slow client. */
export const patient: Patience = { silence: 20_000, headers: 30_000, request: 30_000, answer: 30_000, checkEvery: 20 };

/** A connection on which a test writes requests as it likes. */
export interface WrittenConnection {
  readonly socket: Socket;
  /** Its end in the server. */
  readonly accepted: Socket;
  /** Resolves to the received text, once `done` accepts it or the server has ended the connection. */
  readonly until: (done: (received: string) => boolean) => Promise<string>;
  /** Resolves to the received text, once the server has ended the connection. */
  readonly ended: () => Promise<string>;
}

/** A server and the connections that a test opens to it; {@link close} ends all. */
export class WrittenRequests {
  readonly #create: (patience: Patience) => Server;
  readonly #sockets: Socket[] = [];
  #server!: Server;

  private constructor(create: (patience: Patience) => Server) {
    this.#create = create;
  }

  /** Starts the server that `create` makes, patient with slow clients. */
  static async to(create: (patience: Patience) => Server): Promise<WrittenRequests> {
    const requests = new WrittenRequests(create);
    await requests.#listen(patient);
    return requests;
  }

  get server(): Server {
    return this.#server;
  }

  /** Replaces the server by a less patient one. */
  async toImpatient(patience: Partial<Patience>): Promise<void> {
    this.#closeServer();
    await this.#listen({ ...patient, ...patience });
  }

  /** Opens a connection; its own half stays open when the server ends the other. */
  async opened(): Promise<WrittenConnection> {
    const { port } = this.#server.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.#sockets.push(socket);
    const [accepted] = (await once(this.#server, "connection")) as [Socket];
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).on("error", () => undefined);
    const until = async (done: (received: string) => boolean) => {
      while (!done(text) && !socket.readableEnded && !socket.destroyed) await turn();
      return text;
    };
    return { socket, accepted, until, ended: () => until(() => false) };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#closeServer();
  }

  async #listen(patience: Patience): Promise<void> {
    this.#server = this.#create(patience).listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  #closeServer(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
