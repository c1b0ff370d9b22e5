import { fsyncSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { orEndUnsynced } from "../../../../src/kernel/files.ts";
import { moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import type { MovedFile } from "./checkpoints.ts";

/** Entry of the thread that moves the write-ahead log into the file, at each message. */
const { path, descriptor } = workerData as MovedFile;
const database = new DatabaseSync(path);
parentPort?.on("message", () => {
  moveWriteAheadLog(database, path);
  // SQLite itself syncs the file only after the last page.
  orEndUnsynced(path, () => fsyncSync(descriptor));
  parentPort?.postMessage(null);
});
