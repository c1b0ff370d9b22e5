import { parentPort } from "node:worker_threads";
import { hostilities, startHostileReceiver } from "./hostile-receiver.ts";
import { makeAuthority } from "./tls.ts";

const authority = makeAuthority();
const receivers = await Promise.all(hostilities.map((hostility) => startHostileReceiver(hostility, authority)));
parentPort?.postMessage({
  caPem: authority.caPem,
  ports: Object.fromEntries(receivers.map(({ hostility, port }) => [hostility, port])),
});
parentPort?.once("message", () => {
  void Promise.all(receivers.map((receiver) => receiver.close())).then(() => parentPort?.close());
});
