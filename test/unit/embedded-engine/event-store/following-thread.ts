import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note, textOf } from "../../../contract/event-store/harness.ts";
import { attachHere } from "../../../support/embedded-store.ts";

/** A thread that subscribes to a store opened in another thread, and writes to it. */
const { port } = workerData as { readonly port: MessagePort };
const store = await attachHere(port);
await store.append("fromThread-1", noStream, [note("hello")]);
const subscription = store.subscribe({ after: "", categories: ["thread"] }, (entries) => {
  for (const entry of entries) parentPort!.postMessage(textOf(entry));
});
parentPort!.once("message", () => {
  void subscription.stop().then(() => store.close());
});
