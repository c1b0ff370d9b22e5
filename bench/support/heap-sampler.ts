import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

/**
 * Samples the allocations of a program's threads; loaded before the program (`--import`). Until a thread ends, its heap
 * is sampled, garbage included. It leaves `thread-<n>.heapprofile` in the folder `HEAP_PROFILE_FOLDER`.
 */
const samplingInterval = 64 * 1024;

const session = new Session();
session.connect();
session.post("HeapProfiler.startSampling", {
  samplingInterval, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true,
});
process.once("exit", () => {
  session.post("HeapProfiler.stopSampling", (error, answer) => {
    if (error) throw error;
    const file = join(process.env["HEAP_PROFILE_FOLDER"] ?? ".", `thread-${threadId}.heapprofile`);
    writeFileSync(file, JSON.stringify(answer.profile));
  });
});
