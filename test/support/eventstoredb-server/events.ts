/** An event as a client sent it. */
export interface Proposed {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event as it stands in the log. */
export interface Stored extends Proposed {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit and prepare position: they are equal for every event. */
  readonly position: bigint;
  /** Milliseconds since 1970. */
  readonly created: number;
}

/** What is written to the log, and read back from a file. */
export type Change =
  | { readonly kind: "events"; readonly stream: string; readonly created: number; readonly events: readonly Proposed[] }
  | { readonly kind: "tombstone"; readonly stream: string; readonly created: number; readonly id: string }
  | { readonly kind: "scavenge"; readonly before: bigint };

/** A revision, or what a client may expect in its place. */
export type Expected = bigint | "any" | "no_stream" | "stream_exists";
