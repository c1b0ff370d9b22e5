import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A request to open a tunnel. */
export interface ConnectRequest {
  /** As it was asked for: an address and a port. */
  readonly target: string;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/** How a proxy answers: by a tunnel, with a status, with other bytes, by the end of the connection, or never. */
export type ConnectAnswer = "tunnel" | number | { readonly bytes: string } | "end" | "silence";

/** A proxy in this process that tunnels, or fails at will. */
export interface ConnectProxy {
  readonly port: number;
  readonly requests: readonly ConnectRequest[];
  /** How it answers from now on. */
  answer: (request: ConnectRequest) => ConnectAnswer;
  /** Where it opens the tunnel to a target; to the target itself if it is left out. */
  destination: ((target: string) => { readonly host: string; readonly port: number }) | undefined;
  /** Refuses connections from now on, and cuts those that are open. */
  stop(): Promise<void>;
  /** Listens again. */
  start(): Promise<void>;
}

/** Starts a proxy that speaks CONNECT only. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const requests: ConnectRequest[] = [];
  let server: Server;
  let port = 0;

  const serve = (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
    let head = "";
    const read = (chunk: Buffer) => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", read);
      const [, target = ""] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
      const [, authorization] = /\r\nProxy-Authorization: ([^\r]*)\r\n/i.exec(head) ?? [];
      const request = { target, authorization };
      requests.push(request);
      give(socket, target, proxy.answer(request));
    };
    socket.on("data", read);
  };
  const give = (socket: Socket, target: string, answer: ConnectAnswer) => {
    if (answer === "silence") return;
    if (answer === "end") socket.end();
    else if (typeof answer === "number") socket.end(`HTTP/1.1 ${answer} No\r\nContent-Length: 0\r\n\r\n`);
    else if (typeof answer === "object") socket.write(answer.bytes, "latin1");
    else tunnel(socket, target);
  };
  const tunnel = (socket: Socket, target: string) => {
    const [, host = "", targetPort] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(target) ?? [];
    const there = connect(proxy.destination?.(target) ?? { host, port: Number(targetPort) });
    sockets.add(there.on("close", () => sockets.delete(there)));
    there.once("connect", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(there).pipe(socket);
    });
    there.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  };

  const proxy: ConnectProxy = {
    get port() {
      return port;
    },
    requests,
    answer: () => "tunnel",
    destination: undefined,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
    async start() {
      server = createServer(serve);
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      ({ port } = server.address() as AddressInfo);
    },
  };
  await proxy.start();
  return proxy;
}
