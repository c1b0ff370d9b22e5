import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Detour } from "./broker.ts";

/** A proxy between Kafka's clients and a broker. */
export interface KafkaProxy {
  /** host:port for clients. */
  readonly address: string;
  /** How many clients are connected. */
  readonly connections: number;
  /** Cuts all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Lets nothing through in either direction; keeps the bytes until {@link heal}. */
  freeze(): void;
  /** Ends {@link refuse} or {@link freeze}. */
  heal(): Promise<void>;
  /**
   * From now on, decides about each reply to a request of this API key: true cuts the connection in its stead, or in
   * the middle of it.
   */
  loseReplies(apiKey: number, isLost: () => boolean, where?: "before" | "middle"): void;
  close(): Promise<void>;
}

export const produceApi = 0;
export const fetchApi = 1;

/** A proxy at the detour's `from`. */
export async function proxyFor({ from, to }: Detour): Promise<KafkaProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let losing: { readonly apiKey: number; readonly isLost: () => boolean; readonly where: string } | undefined;
  const server = createServer((client) => {
    const broker = connect(to, "127.0.0.1");
    const asked = new Map<number, number>();
    const cut = () => {
      client.destroy();
      broker.destroy();
    };
    for (const socket of [client, broker]) {
      sockets.add(socket);
      if (frozen) socket.pause();
      socket.on("error", cut).on("close", () => {
        sockets.delete(socket);
        cut();
      });
    }
    client.on("data", frames((frame) => {
      asked.set(frame.readInt32BE(8), frame.readInt16BE(4));
      broker.write(frame);
    }));
    broker.on("data", frames((frame) => {
      const correlationId = frame.readInt32BE(4);
      const apiKey = asked.get(correlationId);
      asked.delete(correlationId);
      if (losing?.apiKey !== apiKey || !losing?.isLost()) client.write(frame);
      else if (losing.where === "before") cut();
      else client.write(frame.subarray(0, frame.length / 2), () => client.resetAndDestroy());
    }));
  });
  const listen = async () => {
    server.listen(from, "127.0.0.1");
    await once(server, "listening");
  };
  const refuse = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  return {
    address: `127.0.0.1:${from}`,
    get connections() {
      return sockets.size / 2;
    },
    refuse,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    heal: async () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen();
    },
    loseReplies: (apiKey, isLost, where = "before") => { losing = { apiKey, isLost, where }; },
    close: async () => { if (server.listening) await refuse(); },
  };
}

/** Cuts a stream into Kafka's length-prefixed frames, the prefix included. */
function frames(take: (frame: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4) {
      const end = 4 + held.readInt32BE(0);
      if (held.length < end) return;
      take(held.subarray(0, end));
      held = held.subarray(end);
    }
  };
}
