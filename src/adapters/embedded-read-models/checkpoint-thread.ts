import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** Entry of the thread that moves what was committed from the write-ahead log into the file, at each message. */
const database = new DatabaseSync(workerData as string);
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
parentPort?.on("message", () => {
  checkpoint.get();
  parentPort?.postMessage(null);
});
