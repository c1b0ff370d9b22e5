import { fsyncSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { orEndUnsynced } from "../../../../src/kernel/files.ts";
import { moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import type { HousekeptLog, Job, NumberedJob, JobResult } from "./housekeeping.ts";
import { SegmentDamaged, type SegmentSummary } from "./stream-index/segment-format.ts";
import { mergeSegments, writeSegment } from "./stream-index/segment-jobs.ts";

/** Entry of the thread beside the log thread: writes and merges segments, checkpoints the log. */
const port = parentPort!;
const { path, descriptor } = workerData as HousekeptLog;
const database = new DatabaseSync(path);

port.on("message", ({ id, job }: NumberedJob) => {
  void run(job).then(
    (summary) => answer({ id, summary }),
    (error: unknown) => answer(failed(id, error)),
  );
});

async function run(job: Job): Promise<SegmentSummary | null> {
  switch (job.kind) {
    case "flush":
      return writeSegment(job.path, job.words, job.count);
    case "merge":
      return mergeSegments(job.path, job.inputs, setImmediate);
    case "checkpoint":
      moveWriteAheadLog(database, path);
      // SQLite itself syncs the file only after the last page, which would hold up commits.
      orEndUnsynced(path, () => fsyncSync(descriptor));
      return null;
  }
}

function failed(id: number, error: unknown): JobResult {
  if (error instanceof SegmentDamaged) return { id, damaged: { file: error.file, what: error.what } };
  return { id, error: error instanceof Error ? error.message : String(error) };
}

function answer(result: JobResult): void {
  const summary = "summary" in result ? result.summary : null;
  port.postMessage(result, summary ? [summary.fences.buffer, summary.bloom.buffer] : []);
}
