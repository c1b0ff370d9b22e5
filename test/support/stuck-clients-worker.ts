import { once } from "node:events";
import { connect } from "node:net";
import { parentPort } from "node:worker_threads";
import type { StuckClients } from "./stuck-clients.ts";

/** Entry of a thread whose connections send given bytes, and then nothing. */
const port = parentPort!;

port.on("message", ({ port: to, count, sends, reads }: StuckClients) => {
  const opening = Array.from({ length: count }, async () => {
    const socket = connect(to, "127.0.0.1").on("error", () => undefined);
    if (reads) socket.resume();
    else socket.pause();
    socket.write(sends);
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
  });
  void Promise.all(opening).then(() => port.postMessage("opened"));
});
