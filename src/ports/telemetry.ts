/** One structured line; pino has this shape. Secrets never get here. */
export interface Logger {
  /** For whoever looks into one case; off unless asked for. */
  debug(fields: object, message: string): void;
  /** What goes as it should: starts, ends, and one line for each attempt. */
  info(fields: object, message: string): void;
  /** What the relay helps itself out of, but somebody may want to know. */
  warn(fields: object, message: string): void;
  /** What failed; an `err` among the fields is shown with its stack. */
  error(fields: object, message: string): void;
}

/** What is counted for `/metrics`. */
export interface Metrics {
  /** An event was accepted, durably. */
  accepted(): void;
  /** An ingest request was answered, whatever the answer, `seconds` after it came. */
  ingest(seconds: number): void;
  /** An attempt ended. `reason` is why it failed (FailureReason, see domain/event/events), "none" when it did not. */
  attempt(outcome: "succeeded" | "failed", reason: string, seconds: number): void;
  /** From acceptance to the first attempt's start, seconds. */
  firstAttemptDelay(seconds: number): void;
  /** Something odd that an operator should look at, by kind. */
  trouble(kind: string): void;
}
