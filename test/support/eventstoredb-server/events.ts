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

/** A change of the log, which a file may keep. */
export type Change =
  | { readonly kind: "events"; readonly stream: string; readonly created: number; readonly events: readonly Proposed[] }
  | { readonly kind: "tombstone"; readonly stream: string; readonly created: number; readonly id: string }
  | { readonly kind: "scavenge"; readonly before: bigint };

/** The state of a stream that a client expects: a revision or a condition. */
export type Expected = bigint | "any" | "no_stream" | "stream_exists";
