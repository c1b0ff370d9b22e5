/** Releases of the server that this one can behave as. */
export const releases = ["23.10", "24.10"] as const;
/** One of {@link releases}. */
export type Release = (typeof releases)[number];

/** The differences of the releases that a client of the log can see. */
export interface Behaviour {
  readonly version: string;
  /** A live subscription whose client is too slow is cut off; else it catches up from the log. */
  readonly cutsSlowConsumers: boolean;
  /** A subscription behind (X, 0) begins with the record at X; else with the one behind it. */
  readonly beginsAtUnmatched: boolean;
  /** A subscription from the start that found nothing by the end of the log gets the checkpoint -1, -1. */
  readonly tellsEmptySearch: boolean;
}

export const behaviours: Readonly<Record<Release, Behaviour>> = {
  "23.10": { version: "23.10.6", cutsSlowConsumers: true, beginsAtUnmatched: false, tellsEmptySearch: false },
  "24.10": { version: "24.10.4", cutsSlowConsumers: false, beginsAtUnmatched: true, tellsEmptySearch: true },
};
