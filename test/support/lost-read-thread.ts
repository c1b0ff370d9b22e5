import { workerData, type MessagePort } from "node:worker_threads";

/** Imported before a program of the relay's: its read thread is lost as soon as it is told to project. */
(workerData as { readonly orders?: MessagePort } | null)?.orders?.on("message", () => {
  throw new Error("the thread is lost");
});
