import type { MessagePort } from "node:worker_threads";
import type { Sequence } from "./positions.ts";

/** Strings per entry in a message: id, type, metadata, data. */
export const entryTexts = 4;

/** Many appends, as plain strings, which transfer fast. `counts[i]`: entries of append i, after those before it. */
export interface AppendBatch {
  readonly kind: "append";
  readonly batch: number;
  readonly streams: string[];
  readonly expected: number[];
  readonly counts: number[];
  readonly texts: string[];
}

/** Deletes a stream. The answer is null, or the stream's actual revision on a conflict. */
export interface DeleteRequest {
  readonly kind: "delete";
  readonly request: number;
  readonly stream: string;
  readonly expected: number | null;
  readonly forGood: boolean;
}

/** A read of a stream with the port's options; the answer is {@link StreamRows}. */
export interface ReadRequest {
  readonly request: number;
  readonly stream: string;
  /** Inclusive; Infinity: the end. */
  readonly from: number;
  readonly limit: number;
  readonly backwards: boolean;
}

export type Request =
  | AppendBatch
  | DeleteRequest
  | { readonly kind: "reads"; readonly reads: readonly ReadRequest[] }
  | OtherRequest;

export interface OtherRequest {
  readonly kind: "stats" | "scrub" | "ping";
  readonly request: number;
}

export type Control = { readonly kind: "connect"; readonly port: MessagePort } | { readonly kind: "close" };

/** An append that did not get the revisions after the expected one; `at` is its index in the batch. */
export type Exception =
  | { readonly at: number; readonly conflict: number }
  /** Nothing was written: the stream's entries cannot be read. */
  | { readonly at: number; readonly failed: string }
  | { readonly at: number; readonly repeated: { readonly revision: number; readonly sequence: Sequence } }
  /** Revisions continued after a deletion; `revision` is the append's last one. */
  | { readonly at: number; readonly revision: number };

/** Entries of a stream: `texts` holds {@link entryTexts} per entry. */
export interface StreamRows {
  readonly revisions: number[];
  readonly sequences: Sequence[];
  readonly texts: string[];
}

export const noRows: StreamRows = { revisions: [], sequences: [], texts: [] };

/** Counts since the thread's start, and the size of the index. */
export interface EmbeddedEventStoreStats {
  readonly commits: number;
  readonly entries: number;
  readonly flushes: number;
  readonly merges: number;
  readonly checkpoints: number;
  /** Records in memory. */
  readonly memtable: number;
  /** Records per segment, from old to new. */
  readonly segments: readonly number[];
}

export type RequestAnswer =
  | { readonly kind: "answer"; readonly request: number; readonly result: unknown }
  | { readonly kind: "refused"; readonly request: number; readonly reason: string };

export type Reply =
  | {
      readonly kind: "welcome";
      readonly path: string;
      /** One signed 64-bit number: the last committed sequence. */
      readonly head: SharedArrayBuffer;
      /** One 32-bit number: 1 asks for one "wake" at the next commit of others. */
      readonly armed: SharedArrayBuffer;
    }
  /** `first`: the sequence of the first new entry. */
  | { readonly kind: "appended"; readonly batch: number; readonly first: Sequence; readonly exceptions: Exception[] }
  | { readonly kind: "failed"; readonly batch: number; readonly reason: string }
  | RequestAnswer
  | { readonly kind: "read"; readonly answers: readonly RequestAnswer[] }
  | { readonly kind: "wake" };

/** The log thread's message to its owner once it serves. */
export type Started = "started";

/** A message to the owner about background work that keeps failing. */
export interface Anomaly {
  readonly trouble: string;
}

/** Limits and delays. The defaults suit production; tests make them small. */
export interface Tuning {
  readonly memtableRecords: number;
  readonly mergeFanout: number;
  readonly checkpointBytes: number;
  /** Bytes in the write-ahead log before it restarts. */
  readonly restartBytes: number;
  readonly batchAppends: number;
  readonly batchesInFlight: number;
  /** The longest group-commit delay from one message to the next; docs/adr/0003 explains it. */
  readonly commitDelayMs: number;
  /** The delay of an append that may wait. */
  readonly holdMs: number;
  /** Entries buffered for a busy subscription; beyond these it reads the log again. */
  readonly subscriptionEntries: number;
  /** The timeout of a request, and of a batch from its first append on. */
  readonly timeoutMs: number;
  readonly scrubDelayMs: number;
  readonly retryDelayMs: number;
}

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
