import { fsyncSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { orEndUnsynced } from "../file-system/failed-sync.ts";
import type { MovedFile } from "./checkpoints.ts";

/** Entry of the thread that moves what was committed from the write-ahead log into the file, at each message. */
const { path, descriptor } = workerData as MovedFile;
const database = new DatabaseSync(path);
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
parentPort?.on("message", () => {
  orEndUnsynced(path, () => {
    checkpoint.get();
    // SQLite does so only when all has been moved.
    fsyncSync(descriptor);
  });
  parentPort?.postMessage(null);
});
