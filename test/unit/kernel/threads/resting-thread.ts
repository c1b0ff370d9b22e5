import { getHeapSpaceStatistics } from "node:v8";
import { parentPort } from "node:worker_threads";
import { shrinkAtRest } from "../../../../src/kernel/threads/threads.ts";

/** A thread that is busy for a moment, then idle. It posts the size of its young generation, in bytes. */
const size = () =>
  getHeapSpaceStatistics().find((space) => space.space_name === "new_space")!.physical_space_size;
shrinkAtRest(1_000);
// Objects that outlive collections let V8 make the young generation larger.
let kept: object[] = [];
for (let n = 0; n < 5_000_000; n += 1) {
  kept.push({ n });
  if (kept.length > 100_000) kept = [];
}
parentPort!.postMessage(size());
setInterval(() => parentPort!.postMessage(size()), 250);
