import { rmSync } from "node:fs";
import { basename } from "node:path";
import { OccasionalThread } from "../../../../src/kernel/threads/occasional-thread.ts";
import { SlotTable } from "../../../../src/kernel/threads/slot-table.ts";
import type { CommitEngine } from "./commit-engine.ts";
import type { LogFile } from "./log-file.ts";
import type { Tuning } from "./protocol.ts";
import type { IndexFolder } from "./stream-index/index-folder.ts";
import { Segment } from "./stream-index/segment.ts";
import { SegmentDamaged, type SegmentSummary } from "./stream-index/segment-format.ts";
import type { StreamIndex } from "./stream-index/stream-index.ts";

/** Start data of the housekeeping thread. */
export interface HousekeptLog {
  readonly path: string;
  /** Of the log's file; stays open. */
  readonly descriptor: number;
}

/** Work that must not hold up commits. The thread does one job at a time; a merge lets others pass. */
export type Job =
  | { readonly kind: "flush"; readonly path: string; readonly words: Uint32Array; readonly count: number }
  | { readonly kind: "merge"; readonly path: string; readonly inputs: readonly string[] }
  | { readonly kind: "checkpoint" };

export interface NumberedJob {
  readonly id: number;
  readonly job: Job;
}

/** The result of the job with that id; `summary` is null for a checkpoint. */
export type JobResult =
  | { readonly id: number; readonly summary: SegmentSummary | null }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly damaged: { readonly file: string; readonly what: string } };

/** Reported after this many failures in a row: most readers are in the way for a moment only. */
const failuresTold = 20;
/** This many pages of the write-ahead log (8 KiB each) are moved in a few milliseconds. */
const fewPages = 1_000;

interface HousekeepingParts {
  readonly path: string;
  readonly descriptor: number;
  readonly log: LogFile;
  readonly index: StreamIndex;
  readonly folder: IndexFolder;
  readonly engine: CommitEngine;
  readonly tuning: Tuning;
  /** Called about work that keeps failing and is repeated. */
  readonly onAnomaly: (what: string) => void;
  /** Called about a damaged segment: the index cannot be used any more. */
  readonly onDamage: (damage: SegmentDamaged) => void;
}

/** Bounds memory, look-ups and the write-ahead log; a thread does the heavy part. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  readonly #thread: OccasionalThread<NumberedJob, JobResult>;
  readonly #jobs = new SlotTable<(result: JobResult) => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #flushing = false;
  #merging = false;
  #checkpointing: Promise<void> | null = null;
  #checkpointedBytes = 0;
  #restartedBytes = 0;
  #scrubbedDeletions = 0;
  /** Whether a secure erase is scheduled or running; a reader may delay it for long. */
  #scrubbing = false;
  readonly counts = { flushes: 0, merges: 0, checkpoints: 0 };

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
    const { path, descriptor } = parts;
    const workerData = { path, descriptor } satisfies HousekeptLog;
    const script = new URL("./housekeeping-thread.ts", import.meta.url);
    this.#thread = new OccasionalThread(script, { name: "housekeeping", workerData }, {
      onAnswer: (result) => this.#done(result),
      onLost: (error) => { throw error; },
    });
    // A newly built index has a segment for each memtable.
    void this.#merge();
  }

  afterCommit(): void {
    const { engine, index, tuning } = this.#parts;
    const { bytes, deletions } = engine.counts;
    if (index.activeRecords >= tuning.memtableRecords && !this.#flushing) void this.#flush();
    if (bytes - this.#checkpointedBytes >= tuning.checkpointBytes && !this.#checkpointing) void this.#checkpoint();
    if (deletions !== this.#scrubbedDeletions && !this.#scrubbing) {
      this.#scrubbing = true;
      this.#later(tuning.scrubDelayMs, () => void this.#scrubDeleted());
    }
  }

  async scrub(): Promise<void> {
    const { engine, log } = this.#parts;
    const { deletions } = engine.counts;
    await this.#untilDone("emptying the write-ahead log", async () => {
      // After a long read many pages are left, and moving them here would delay commits.
      await this.#checkpoint();
      if (log.unmovedPages() > fewPages || !log.truncate(0)) throw new Error("a reader is in the way");
    });
    this.#scrubbedDeletions = Math.max(deletions, this.#scrubbedDeletions);
  }

  /** Checks again after the erase: entries deleted meanwhile are due, and no further commit may come. */
  async #scrubDeleted(): Promise<void> {
    await this.scrub();
    this.#scrubbing = false;
    this.afterCommit();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#jobs.takeAll();
    await this.#thread.end();
  }

  async #flush(): Promise<void> {
    const { engine, folder, index, log } = this.#parts;
    this.#flushing = true;
    const upTo = engine.head;
    const frozen = index.freeze();
    const file = folder.newFile();
    const path = folder.path(file);
    await this.#untilDone("writing a segment", async () => {
      const summary = await this.#run({ kind: "flush", path, ...frozen });
      index.flushed(listed(Segment.adopt(path, summary!), () => log.listSegment({ file, upTo })));
    });
    this.counts.flushes += 1;
    this.#flushing = false;
    this.afterCommit();
    if (!this.#merging) void this.#merge();
  }

  async #merge(): Promise<void> {
    const { folder, index, log } = this.#parts;
    this.#merging = true;
    for (let due = this.#dueForMerge(); due.length > 0; due = this.#dueForMerge()) {
      const file = folder.newFile();
      const path = folder.path(file);
      const inputs = due.map((segment) => segment.path);
      await this.#untilDone("merging segments", async () => {
        const summary = await this.#run({ kind: "merge", path, inputs });
        const names = inputs.map((input) => basename(input));
        index.replace(due, listed(Segment.adopt(path, summary!), () => log.listMerged(file, names)));
      });
      for (const segment of due) {
        segment.close();
        rmSync(segment.path, { force: true });
      }
      this.counts.merges += 1;
    }
    this.#merging = false;
  }

  #dueForMerge(): readonly Segment[] {
    const { index, tuning } = this.#parts;
    return dueForMerge(index.segments, tuning.memtableRecords, tuning.mergeFanout);
  }

  /** The thread moves a few pages at a time: a large sync delays commits. The log restarts once all are moved. */
  #checkpoint(): Promise<void> {
    this.#checkpointing ??= (async () => {
      const { engine, log, tuning } = this.#parts;
      await this.#untilDone("moving the write-ahead log", async () => {
        const { bytes } = engine.counts;
        await this.#run({ kind: "checkpoint" });
        this.#checkpointedBytes = bytes;
        if (engine.counts.bytes - this.#restartedBytes < tuning.restartBytes) return;
        log.checkpoint();
        this.#restartedBytes = engine.counts.bytes;
      });
      this.counts.checkpoints += 1;
      this.#checkpointing = null;
    })();
    return this.#checkpointing;
  }

  /** Repeats a task, with pauses, until it succeeds: the disk may be full for a while. */
  async #untilDone(what: string, task: () => void | Promise<void>): Promise<void> {
    const { onAnomaly, onDamage, tuning } = this.#parts;
    for (let failures = 1; ; failures++) {
      try {
        await task();
        return;
      } catch (error) {
        if (error instanceof SegmentDamaged) onDamage(error);
        if (failures % failuresTold === 0) onAnomaly(`${what}: ${(error as Error).message}`);
        await new Promise<void>((resolve) => this.#later(tuning.retryDelayMs, resolve));
      }
    }
  }

  async #run(job: Job): Promise<SegmentSummary | null> {
    return new Promise((resolve, reject) => {
      const id = this.#jobs.add((result) => {
        if ("error" in result) reject(new Error(result.error));
        else if ("damaged" in result) reject(new SegmentDamaged(result.damaged.file, result.damaged.what));
        else resolve(result.summary);
      });
      if (!this.#thread.post({ id, job })) this.#done({ id, error: "the system gives no thread" });
    });
  }

  #done(result: JobResult): void {
    this.#jobs.take(result.id)?.(result);
    if (this.#jobs.size === 0) this.#thread.rest();
  }

  #later(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      task();
    }, ms);
    this.#timers.add(timer);
  }
}

/** Lists a segment that is open already. If opening failed after listing, the next try would list it twice. */
function listed(segment: Segment, list: () => void): Segment {
  try {
    list();
  } catch (error) {
    segment.close();
    throw error;
  }
  return segment;
}

/**
 * The next neighbours to merge, from old to new. A tier is `fanout` times the size of the one before; the first is a
 * flush. Neighbours up to a tier merge once they reach a higher one together: each record is rewritten once per tier.
 */
export function dueForMerge<Sized extends { readonly records: number }>(
  segments: readonly Sized[],
  flushRecords: number,
  fanout: number,
): readonly Sized[] {
  // Slightly fewer records count as a full tier: a merge drops duplicates.
  const tierOf = (records: number) =>
    Math.max(0, Math.floor(Math.log(records / flushRecords) / Math.log(fanout) + 0.1));
  const highest = Math.max(0, ...segments.map(({ records }) => tierOf(records)));
  for (let tier = 0; tier <= highest; tier++) {
    for (let end = segments.length; end > 0;) {
      let start = end;
      let records = 0;
      while (start > 0 && tierOf(segments[start - 1]!.records) <= tier) records += segments[--start]!.records;
      if (end - start > 1 && tierOf(records) > tier) return segments.slice(start, end);
      end = start === end ? end - 1 : start;
    }
  }
  return [];
}
