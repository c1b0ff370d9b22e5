import type { SegmentSummary } from "./stream-index/segment-format.ts";

/** What the housekeeping thread is started with. */
export interface HousekeptLog {
  readonly path: string;
  /** Of the log's file; stays open. */
  readonly descriptor: number;
}

/** Work that must not hold up commits; done one by one by a thread of its own, but merges let others in between. */
export type Job =
  | { readonly kind: "flush"; readonly path: string; readonly words: Uint32Array; readonly count: number }
  | { readonly kind: "merge"; readonly path: string; readonly inputs: readonly string[] }
  | { readonly kind: "checkpoint" };

/** To the housekeeping thread: a job, or to end at once, for which a merge under way is given up. */
export type JobMessage = { readonly id: number; readonly job: Job } | "stop";

/** From it, for the job of that id. `summary` is null for a checkpoint, which makes no segment. */
export type JobResult =
  | { readonly id: number; readonly summary: SegmentSummary | null }
  | { readonly id: number; readonly error: string }
  /** The index must be made anew. */
  | { readonly id: number; readonly damaged: { readonly file: string; readonly what: string } };
