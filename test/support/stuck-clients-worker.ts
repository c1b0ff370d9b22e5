import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { StuckClients } from "./stuck-clients.ts";

/** Entry of a thread whose connections send given bytes, and then nothing. */
const port = parentPort!;
const slowMs = 200;
const slowBytes = 1_024;

port.on("message", (clients: StuckClients) => {
  const opening = Array.from({ length: clients.count }, () => open(clients));
  void Promise.all(opening).then(() => port.postMessage("opened"));
});

async function open(clients: StuckClients): Promise<void> {
  const { port: to, sends, reads, closesAfterMs } = clients;
  const socket = connect(to, "127.0.0.1").on("error", () => undefined);
  if (reads === true) socket.resume();
  else socket.pause();
  if (reads === "slowly") readSlowly(socket);
  socket.write(sends);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  if (closesAfterMs !== undefined) void closeAndOpenAgain(socket, clients, closesAfterMs);
}

function readSlowly(socket: Socket): void {
  const timer = setInterval(() => void socket.read(slowBytes), slowMs);
  socket.once("close", () => clearInterval(timer));
}

async function closeAndOpenAgain(socket: Socket, clients: StuckClients, afterMs: number): Promise<void> {
  await pause(afterMs);
  socket.destroy();
  await open(clients);
}
