import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * The fate of a command: it arrives or is lost, its answer too, or it waits until {@link WireProxy.release}. `cut`:
 * it arrives, and in place of its answer its connection ends.
 */
export type Fate = "pass" | "lost" | "answer lost" | "cut" | "held";

const writes = new Set([
  "insert", "update", "delete", "findAndModify", "create", "createIndexes", "commitTransaction", "killSessions",
]);
const message = 2013;

/**
 * Stands between clients and a server and decides the fate of each write. Once a write or its answer is lost, nothing
 * more gets through, as if the client had died there.
 */
export class WireProxy {
  /** How many write commands came, in all. */
  count = 0;
  /** The fate of each, counted from 1. */
  fateOf: (count: number, command: string) => Fate = () => "pass";
  /** Commands that name this are never answered; others over the same connection are. */
  unanswered: string | undefined;
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #held: (() => Promise<void>)[] = [];
  #isDead = false;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on("connection", (client) => this.#serve(client));
  }

  /** In front of the server and database of a URL. */
  static async start(url: string): Promise<WireProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new WireProxy(server, new URL(url));
  }

  /** The URL by which clients come through here. */
  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port);
    url.searchParams.set("directConnection", "true");
    return url.href;
  }

  /** How many commands are held. */
  get held(): number {
    return this.#held.length;
  }

  /** Sends the held commands on, though their senders may not wait any more; resolves when they are answered. */
  async release(): Promise<void> {
    await Promise.all(this.#held.splice(0).map((go) => go()));
  }

  close(): Promise<void> {
    this.#die();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #die(): void {
    this.#isDead = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client: Socket): void {
    if (this.#isDead) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    let holds = false;
    let answersAreLost = false;
    let isCut = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.on("close", () => {
      if (!holds) server.destroy();
    });
    server.on("close", () => client.destroy());
    server.on("data", (data) => {
      if (answersAreLost) this.#die();
      else if (isCut) client.destroy();
      else client.write(data);
    });
    eachFrame(client, (frame) => {
      if (this.unanswered !== undefined && frame.includes(this.unanswered)) return;
      const command = commandOf(frame);
      const fate = command !== undefined && writes.has(command) ? this.fateOf((this.count += 1), command) : "pass";
      if (this.#isDead) return;
      if (fate === "lost") {
        this.#die();
        return;
      }
      if (fate === "held") {
        holds = true;
        this.#held.push(async () => {
          server.write(frame);
          await once(server, "data");
        });
        return;
      }
      answersAreLost = fate === "answer lost";
      isCut = fate === "cut";
      server.write(frame);
    });
  }
}

/** Calls back with each message of the wire protocol, which begin with their length. */
function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let waiting = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    waiting = Buffer.concat([waiting, data]);
    while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
      const length = waiting.readInt32LE(0);
      take(waiting.subarray(0, length));
      waiting = waiting.subarray(length);
    }
  });
}

/** The name of the command: that of the first field of the message's document. */
function commandOf(frame: Buffer): string | undefined {
  if (frame.readInt32LE(12) !== message) return undefined;
  const name = 16 + 4 + 1 + 4 + 1;
  return frame.toString("latin1", name, frame.indexOf(0, name));
}
