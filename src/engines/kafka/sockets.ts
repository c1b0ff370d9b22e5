import { connect, isIP, Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { ISocketFactory } from "kafkajs";

const keepAliveMs = 60_000;
/** Cannot be registered (RFC 2606). */
const suffix = ".ipv6.invalid";

/** The driver cuts host:port at the first colon, so an IPv6 address passes as a name that {@link Sockets} decodes. */
export function seedOf(broker: string): string {
  const [, address, port] = /^\[([^\]]+)\]:(\d+)$/.exec(broker) ?? [];
  return address === undefined ? broker : `${Buffer.from(address).toString("hex")}${suffix}:${port}`;
}

/** The sockets of one client of the driver. It forgets some, so only {@link Sockets.cut} ends a client for certain. */
export class Sockets {
  readonly #tls: ConnectionOptions | null;
  readonly #onAnswer: () => void;
  readonly #open = new Set<Socket>();
  #cut = false;

  constructor(tls: ConnectionOptions | null, onAnswer: () => void) {
    this.#tls = tls;
    this.#onAnswer = onAnswer;
  }

  readonly factory: ISocketFactory = ({ host: given, port, onConnect }) => {
    if (this.#cut) return new Socket().destroy(gone());
    const host = given.endsWith(suffix) ? Buffer.from(given.slice(0, -suffix.length), "hex").toString() : given;
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = this.#tls === null
      ? connect({ host, port }, onConnect)
      : connectTls({ host, port, ...named, ...this.#tls }, onConnect);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket)).setKeepAlive(true, keepAliveMs);
    return tellingOfCompleteResponses(socket).on("data", this.#onAnswer);
  };

  cut(): void {
    this.#cut = true;
    // Without an error the driver believes that it is connected, and keeps timers for it.
    for (const socket of this.#open) socket.destroy(gone());
  }
}

function gone(): Error {
  return new Error("the client was given up");
}

const lengthBytes = 4;

/** Lets a socket emit complete responses only: the driver would join a cut one to the next connection's data. */
export function tellingOfCompleteResponses<Connection extends Socket>(socket: Connection): Connection {
  const emit = socket.emit.bind(socket) as (name: string | symbol, ...given: readonly unknown[]) => boolean;
  const whole = completeResponses();
  socket.emit = (name: string | symbol, ...given: readonly unknown[]) => {
    if (name !== "data") return emit(name, ...given);
    const answers = whole(given[0] as Buffer);
    return answers !== undefined && emit(name, answers);
  };
  return socket;
}

function completeResponses(): (chunk: Buffer) => Buffer | undefined {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = lengthBytes;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) return undefined;
    const bytes = chunks.length > 1 ? Buffer.concat(chunks) : chunk;
    let end = 0;
    for (needed = lengthBytes; end + needed <= held; needed = lengthBytes) {
      needed += bytes.readUInt32BE(end);
      if (end + needed > held) break;
      end += needed;
    }
    chunks = end < held ? [bytes.subarray(end)] : [];
    held -= end;
    return end > 0 ? bytes.subarray(0, end) : undefined;
  };
}
