/** Times in ms and sizes; the defaults suit production, tests make them small. */
export interface Tuning {
  /** After this, an append without an outcome is given up: it may have happened. */
  readonly appendMs: number;
  readonly readMs: number;
  /** The longest silence of a call, and of the connection; a busy server pauses for several seconds. */
  readonly stallMs: number;
  readonly pingMs: number;
  /** Pauses between attempts double, up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** After this silence a subscription checks how far the log has grown. */
  readonly idleMs: number;
  /** The same if this client knows of a later entry. */
  readonly behindMs: number;
  /** Limits of the buffer for a busy handler. */
  readonly bufferEntries: number;
  readonly bufferBytes: number;
  /** Records examined between two checkpoints, also of a prompt subscription. */
  readonly searchWindow: number;
  readonly promptWindow: number;
  readonly pageBytes: number;
  readonly closeMs: number;
}

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
