import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { host, port, forwardTo, delayMs, ears } = workerData as {
  readonly host: string; readonly port: number; readonly forwardTo: number; readonly delayMs: number;
  /** 0: deaf. */
  readonly ears: Int32Array;
};

const server = createServer((client) => {
  const receiver = connect(forwardTo, "127.0.0.1");
  forward(client, receiver);
  forward(receiver, client);
});
server.listen({ host, port, backlog: 1 });
await once(server, "listening");
parentPort?.postMessage((server.address() as AddressInfo).port);
// A waiting thread accepts nothing: once the backlog is full the kernel drops each packet that asks for a connection.
Atomics.wait(ears, 0, 0);

function forward(from: Socket, to: Socket): void {
  from.on("data", (piece) => setTimeout(() => to.write(piece), delayMs / 2));
  from.on("error", () => {}).on("close", () => to.destroy());
}
