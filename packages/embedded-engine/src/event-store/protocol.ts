import type { MessagePort } from "node:worker_threads";
import type { Sequence } from "./positions.ts";

/** Strings per entry in a message: id, type, metadata, data. */
export const entryTexts = 4;

/**
 * Many appends in one message: plain arrays of strings, which are cheaper to hand over than one encoded
 * buffer. `counts[i]` entries of append i follow those of the appends before it.
 */
export interface AppendBatch {
  readonly kind: "append";
  readonly batch: number;
  readonly streams: string[];
  readonly expected: number[];
  readonly counts: number[];
  readonly texts: string[];
}

/** Deletes a stream. Its answer is null, or the revision that the stream is at instead. */
export interface DeleteRequest {
  readonly kind: "delete";
  readonly request: number;
  readonly stream: string;
  /** Only at this revision; null: at any. */
  readonly expected: number | null;
}

/** A read of a stream, as the port's options say; its answer is {@link StreamRows}. */
export interface ReadRequest {
  readonly request: number;
  readonly stream: string;
  /** A revision, inclusive; Infinity: the end. */
  readonly from: number;
  readonly limit: number;
  readonly backwards: boolean;
}

/** A message from a client to the log thread. Reads of one turn come in one message. */
export type Request =
  | AppendBatch
  | DeleteRequest
  | { readonly kind: "reads"; readonly reads: readonly ReadRequest[] }
  | OtherRequest;

/** A request without parameters. */
export interface OtherRequest {
  readonly kind: "stats" | "scrub" | "ping";
  readonly request: number;
}

/** A message from the owner to the log thread. */
export type Control = { readonly kind: "connect"; readonly port: MessagePort } | { readonly kind: "close" };

/** An append that did not simply get the revisions after the expected one; `at` is its place in the batch. */
export type Exception =
  | { readonly at: number; readonly conflict: number }
  /** Nothing was written: the stream's entries cannot be read. */
  | { readonly at: number; readonly failed: string }
  | { readonly at: number; readonly repeated: { readonly revision: number; readonly sequence: Sequence } }
  /** The stream was deleted before, and its revisions go on from there; `revision` is the append's last one. */
  | { readonly at: number; readonly revision: number };

/** Entries of a stream: `texts` holds {@link entryTexts} per entry. */
export interface StreamRows {
  readonly revisions: number[];
  readonly sequences: Sequence[];
  readonly texts: string[];
}

/** The answer to a read that finds nothing. */
export const noRows: StreamRows = { revisions: [], sequences: [], texts: [] };

/** Counts since the thread's start, and the size of the index. */
export interface EmbeddedEventStoreStats {
  readonly commits: number;
  readonly entries: number;
  readonly flushes: number;
  readonly merges: number;
  readonly checkpoints: number;
  /** Records in memory, not yet in a segment. */
  readonly memtable: number;
  /** Records of each segment, from old to new. */
  readonly segments: readonly number[];
}

/** The outcome of a request. */
export type Answer =
  | { readonly kind: "answer"; readonly request: number; readonly result: unknown }
  | { readonly kind: "refused"; readonly request: number; readonly reason: string };

/** A message from the log thread to a client. */
export type Reply =
  | {
      readonly kind: "welcome";
      readonly path: string;
      /** One signed 64-bit number: the last committed sequence. */
      readonly head: SharedArrayBuffer;
      /** One 32-bit number: 1 asks for one "wake" at the next commit with others' entries. */
      readonly armed: SharedArrayBuffer;
    }
  /** `first` is the sequence of the first new entry; the others follow in order. */
  | { readonly kind: "appended"; readonly batch: number; readonly first: Sequence; readonly exceptions: Exception[] }
  | { readonly kind: "failed"; readonly batch: number; readonly reason: string }
  | Answer
  | { readonly kind: "read"; readonly answers: readonly Answer[] }
  | { readonly kind: "wake" };

/** The log thread's message to its owner once it serves. */
export type Started = "started";

/** The log thread's message to its owner about background work that keeps failing, with the reason. */
export interface Anomaly {
  readonly trouble: string;
}

/** Limits and delays of the store. The defaults are right for use; tests make them small. */
export interface Tuning {
  /** Records in memory before they become a segment. */
  readonly memtableRecords: number;
  /** Segments of one size that are merged into one of the next. */
  readonly mergeFanout: number;
  /** Bytes written to the write-ahead log before they are moved into the log's file, in the background. */
  readonly checkpointBytes: number;
  /** Bytes written to the write-ahead log before it is made to start over. */
  readonly restartBytes: number;
  /** Appends in one message at most. */
  readonly batchAppends: number;
  /** Messages under way to the log thread at most. */
  readonly batchesInFlight: number;
  /** The longest group-commit delay, ms, from one message to the next: fewer commits cost less. */
  readonly commitDelayMs: number;
  /** How long an append that may wait is held back for others, ms. */
  readonly holdMs: number;
  /** Entries buffered at most for a busy subscription; beyond these it reads the log again. */
  readonly subscriptionEntries: number;
  /** How long a request, or a batch of appends from its first one on, may take before it fails, ms. */
  readonly timeoutMs: number;
  /** Delay before the bytes of deleted entries are erased from the write-ahead log, ms. */
  readonly scrubDelayMs: number;
  /** Pause before failed background work is tried again, ms. */
  readonly retryDelayMs: number;
}

/** In force where nothing else is given; docs/adr/0003 explains the group-commit delay. */
export const defaultTuning: Tuning = {
  memtableRecords: 131_072,
  mergeFanout: 4,
  checkpointBytes: 4 * 1024 * 1024,
  restartBytes: 16 * 1024 * 1024,
  batchAppends: 1024,
  batchesInFlight: 2,
  commitDelayMs: 4,
  holdMs: 15,
  subscriptionEntries: 4096,
  timeoutMs: 10_000,
  scrubDelayMs: 500,
  retryDelayMs: 250,
};
