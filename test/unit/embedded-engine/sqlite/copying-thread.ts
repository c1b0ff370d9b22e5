import { parentPort, workerData } from "node:worker_threads";
import { copyDatabases } from "../../../../packages/embedded-engine/src/sqlite/copy-databases.ts";

/** Entry of a thread that makes one copy and posts the outcome. */
const { from, to } = workerData as { readonly from: string; readonly to: string };
let end = "copied";
try {
  copyDatabases(["one.db", "two.db"], from, to);
} catch (error) {
  end = (error as Error).message;
}
parentPort!.postMessage(end);
