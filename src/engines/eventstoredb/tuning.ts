/** Times in milliseconds and sizes; the defaults suit production, tests make them small. */
export interface Tuning {
  /** An append that has no outcome after this is given up: whether it happened is unknown then. */
  readonly appendMs: number;
  /** A read or deletion that has not ended after this fails. */
  readonly readMs: number;
  /**
   * A call is made again when appends wait unanswered, or a subscription lacks an entry, for this long; the connection
   * is replaced when nothing at all came over it for this long. A busy server pauses for several seconds.
   */
  readonly stallMs: number;
  /** A ping that has no answer after this fails. */
  readonly pingMs: number;
  /** Between attempts: the first pause, doubled each time up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A subscription to which nothing came for this long looks for itself how far the log has grown. */
  readonly idleMs: number;
  /** The same, when this client knows of an entry after the subscription's position. */
  readonly behindMs: number;
  /** Entries, and bytes of them, that are buffered for a subscription whose handler is busy. */
  readonly bufferEntries: number;
  readonly bufferBytes: number;
  /** Records that the server looks at between two checkpoints of a subscription, and of a prompt one. */
  readonly searchWindow: number;
  readonly promptWindow: number;
  /** The approximate size of a page of `readLog`, bytes. */
  readonly pageBytes: number;
  /** Closing waits no longer than this for the channel to end. */
  readonly closeMs: number;
}

/** The defaults. */
export const defaultTuning: Tuning = {
  appendMs: 10_000,
  readMs: 10_000,
  stallMs: 8000,
  pingMs: 1000,
  firstPauseMs: 50,
  longestPauseMs: 2000,
  idleMs: 1000,
  behindMs: 50,
  bufferEntries: 1024,
  bufferBytes: 8 * 1024 * 1024,
  searchWindow: 512,
  promptWindow: 32,
  pageBytes: 4 * 1024 * 1024,
  closeMs: 2000,
};
