import { parentPort } from "node:worker_threads";

/** A thread that answers each message with itself; it fails at "fail" and ends at "stop". */
parentPort!.on("message", (message: string) => {
  if (message === "fail") throw new Error("failed");
  if (message === "stop") return parentPort!.close();
  parentPort!.postMessage(message);
});
