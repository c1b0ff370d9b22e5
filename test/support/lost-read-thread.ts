import { parentPort } from "node:worker_threads";

/** Imported before a program of the relay's: its read thread is lost as soon as it is told to project. */
parentPort?.on("message", (order: unknown) => {
  if (order === "follow" || order === "rebuild") throw new Error("the thread is lost");
});
