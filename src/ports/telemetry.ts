/** One structured line; pino has this shape. Secrets never get here. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What is counted for `/metrics`. */
export interface Metrics {
  accepted(): void;
  ingest(seconds: number): void;
  attempt(outcome: "succeeded" | "failed", reason: string, seconds: number): void;
  /** From acceptance to the first attempt's start, seconds. */
  firstAttemptDelay(seconds: number): void;
  /** Something odd that an operator should look at, by kind. */
  trouble(kind: string): void;
}
