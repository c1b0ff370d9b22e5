/** A scheduled call that has not happened yet. */
export interface Timer {
  /** The call will not happen; nothing where it has happened already. */
  cancel(): void;
}

/** The only source of time, so that a simulation can control it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970; may jump. */
  now(): number;
  /** Never goes back; milliseconds from an arbitrary start. For measuring, never for storing. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`. A pending timer does not keep the process alive. */
  schedule(delayMs: number, task: () => void): Timer;
}
