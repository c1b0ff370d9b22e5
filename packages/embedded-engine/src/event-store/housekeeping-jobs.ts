import type { SegmentSummary } from "./stream-index/segment-format.ts";

/** The start data of the housekeeping thread. */
export interface HousekeptLog {
  readonly path: string;
  /** Of the log's file; stays open. */
  readonly descriptor: number;
}

/** Work that must not hold up commits. A thread of its own does one job after the other; a merge lets others pass. */
export type Job =
  | { readonly kind: "flush"; readonly path: string; readonly words: Uint32Array; readonly count: number }
  | { readonly kind: "merge"; readonly path: string; readonly inputs: readonly string[] }
  | { readonly kind: "checkpoint" };

/** A message to the housekeeping thread: a job, or "stop", which ends it at once and abandons a merge under way. */
export type JobMessage = { readonly id: number; readonly job: Job } | "stop";

/** The thread's answer to the job of that id. `summary` is null for a checkpoint, which makes no segment. */
export type JobResult =
  | { readonly id: number; readonly summary: SegmentSummary | null }
  | { readonly id: number; readonly error: string }
  /** The index must be rebuilt. */
  | { readonly id: number; readonly damaged: { readonly file: string; readonly what: string } };
