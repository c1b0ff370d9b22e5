import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { makeAuthority, makeSelfSigned, type Authority } from "./tls.ts";

/** The behaviour of a hostile receiver once a whole request head has come in. */
type Deed = (socket: Socket, wire: Socket) => void;

const head = (status: string, ...headers: readonly string[]) => `HTTP/1.1 ${[status, ...headers].join("\r\n")}\r\n\r\n`;

/** Answers without a body by its status, then ends an empty one. */
function bodyAfter(status: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(head(status, "Transfer-Encoding: chunked"));
    setImmediate(() => socket.write(`0${over}`));
  };
}

/** Writes the text again and again, `everyMs` apart, until the socket closes. */
function drip(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once("close", () => clearInterval(timer));
}

/** Writes the text as fast as the other side reads, until the socket closes. */
function flood(socket: Socket, text: string | Buffer): void {
  const pour = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", pour);
  pour();
}

/** Asks for another handshake, as TLS 1.2 lets either side do; `then` once it is over. */
function renegotiate(socket: Socket, then: () => void): void {
  (socket as TLSSocket).renegotiate({}, (error) => {
    if (!error) then();
  });
}

const over = "\r\n\r\n";
/** 32 MiB of zeros in 32 KiB. */
const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));

const deeds = {
  silent: () => {},
  "closes without an answer": (socket) => socket.end(),
  "resets before the answer": (_socket, wire) => wire.resetAndDestroy(),
  "resets within the head": (socket, wire) =>
    socket.write("HTTP/1.1 200 OK\r\nX-Half: ", () => wire.resetAndDestroy()),
  "resets within the body": (socket, wire) =>
    socket.write(`${head("200 OK", "Content-Length: 1000")}half`, () => setTimeout(() => wire.resetAndDestroy(), 50)),
  "ends within the body": (socket) => socket.end(`${head("200 OK", "Content-Length: 1000")}half`),
  "drips its status line": (socket) => {
    socket.write("HTTP/1.1 200 ");
    drip(socket, "x", 40);
  },
  "drips headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    drip(socket, "X-Drip: 1\r\n", 40);
  },
  "drips a good body": (socket) => {
    socket.write(head("200 OK"));
    drip(socket, ".", 40);
  },
  "drips a bad body": (socket) => {
    socket.write(head("500 No", "Content-Length: 100000"));
    drip(socket, ".", 40);
  },
  "says yes, then nothing": (socket) => socket.write(head("200 OK", "Content-Length: 10")),
  "endless body": (socket) => {
    socket.write(head("200 OK"));
    flood(socket, Buffer.alloc(65_536, "x"));
  },
  "endless tiny chunks": (socket) => {
    socket.write(head("200 OK", "Transfer-Encoding: chunked"));
    flood(socket, "1\r\nx\r\n".repeat(1000));
  },
  "endless tiny records": (socket) => {
    socket.write(head("200 OK"));
    const pour = () => {
      if (!socket.destroyed) socket.write("x", () => setImmediate(pour));
    };
    pour();
  },
  "endless chunk extension": (socket) => {
    socket.write(`${head("200 OK", "Transfer-Encoding: chunked")}1;`);
    flood(socket, "x".repeat(65_536));
  },
  "endless headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    flood(socket, "X-More: 1\r\n".repeat(1000));
  },
  "endless status text": (socket) => {
    socket.write("HTTP/1.1 200 ");
    flood(socket, "x".repeat(65_536));
  },
  "huge header": (socket) => socket.write(head("200 OK", `X-Huge: ${"x".repeat(1_000_000)}`)),
  "many small headers, then nothing": (socket) => socket.write(`HTTP/1.1 200 OK\r\n${"a:b\r\n".repeat(8000)}`),
  "many small headers after an interim answer": (socket) =>
    socket.write(`${head("103 Early Hints")}HTTP/1.1 200 OK\r\n${"a:b\r\n".repeat(8000)}`),
  "many small trailers, then nothing": (socket) =>
    socket.write(`${head("200 OK", "Transfer-Encoding: chunked")}1\r\nx\r\n0\r\n${"a:b\r\n".repeat(8000)}`),
  "gzip bomb": (socket) => {
    socket.write(head("200 OK", "Content-Encoding: gzip", `Content-Length: ${bomb.length}`));
    socket.write(bomb);
  },
  "flood of 100 Continue": (socket) => flood(socket, head("100 Continue")),
  "flood of 103 Early Hints": (socket) => flood(socket, head("103 Early Hints", "Link: </a>")),
  "says 100 Continue unasked, then yes": (socket) =>
    socket.write(`${head("100 Continue")}${head("200 OK", "Content-Length: 3")}yes`),
  "drip of 102 Processing": (socket) => drip(socket, head("102 Processing"), 40),
  "switches protocols": (socket) => socket.write(head("101 Switching", "Connection: upgrade", "Upgrade: websocket")),
  garbage: (socket) => socket.write(`\0\x01\x02 not http${over}`),
  "old protocol": (socket) => socket.write(`HTTP/0.9 200 OK${over}`),
  "a status that is none": (socket) => socket.write(`${head("099 No", "Content-Length: 2")}no`),
  "two lengths": (socket) => socket.write(`${head("200 OK", "Content-Length: 1", "Content-Length: 2")}ab`),
  "says 204, then an empty body": bodyAfter("204 No Content"),
  "says 304, then an empty body": bodyAfter("304 Not Modified"),
  "answers twice": (socket) => {
    const yes = `${head("200 OK", "Content-Length: 2")}ok`;
    socket.write(yes + yes.replace("200", "500"));
  },
  "one more handshake, then yes": (socket) =>
    renegotiate(socket, () => socket.write(head("200 OK", "Content-Length: 0"))),
  "endless handshakes": (socket) => {
    const again = () => setImmediate(() => renegotiate(socket, again));
    again();
  },
} satisfies Record<string, Deed>;

const handshakes = [
  "silent handshake", "plain HTTP", "self-signed", "certified for another host", "unknown authority",
] as const;

export type Hostility = keyof typeof deeds | (typeof handshakes)[number];

/** Every kind there is. */
export const hostilities: readonly Hostility[] = [...(Object.keys(deeds) as (keyof typeof deeds)[]), ...handshakes];

export interface HostileReceiver {
  readonly hostility: Hostility;
  readonly port: number;
  /** Whole request heads read so far. */
  readonly requests: number;
  close(): Promise<void>;
}

/** Starts a receiver of one kind on 127.0.0.1, its certificate signed by `authority` unless that is the hostility. */
export async function startHostileReceiver(hostility: Hostility, authority: Authority): Promise<HostileReceiver> {
  const wires = new Set<Socket>();
  let requests = 0;
  const onRequest = (socket: Socket, deed: Deed) => {
    socket.on("error", () => {});
    const wire = [...wires].find(({ remotePort }) => remotePort === socket.remotePort) ?? socket;
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (!text.includes(over)) return;
      text = "";
      requests += 1;
      deed(socket, wire);
    });
  };
  const server = serverFor(hostility, authority, onRequest);
  server.on("connection", (wire: Socket) => {
    wires.add(wire.on("error", () => {}).once("close", () => wires.delete(wire)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    hostility,
    port: (server.address() as AddressInfo).port,
    get requests() {
      return requests;
    },
    close: async () => {
      for (const wire of wires) wire.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function serverFor(
  hostility: Hostility,
  authority: Authority,
  onRequest: (socket: Socket, deed: Deed) => void,
): Server {
  const overTls = (options: TlsOptions, deed: Deed) =>
    createTlsServer(options, (socket: TLSSocket) => onRequest(socket, deed)).on("tlsClientError", () => {});
  const accept: Deed = (socket) => socket.write(head("200 OK", "Content-Length: 0"));
  switch (hostility) {
    case "silent handshake":
      return createTcpServer((socket) => void socket.resume());
    case "plain HTTP":
      return createTcpServer((socket) => socket.once("data", () => socket.write(head("200 OK", "Content-Length: 0"))));
    case "self-signed":
      return overTls(makeSelfSigned(), accept);
    case "certified for another host":
      return overTls(authority.issue(["elsewhere.example"]), accept);
    case "unknown authority":
      return overTls(makeAuthority().issue(), accept);
    case "one more handshake, then yes":
    case "endless handshakes":
      return overTls({ ...authority.issue(), maxVersion: "TLSv1.2" }, deeds[hostility]);
    default:
      return overTls(authority.issue(), deeds[hostility]);
  }
}
