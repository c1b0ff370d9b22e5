import type { FailureReason } from "../domain/event/events.ts";
import type { FinishedStatus } from "../domain/event/purge.ts";
import type { Clock } from "./clock/clock.ts";

/** One structured line; pino has this shape. Secrets never get here. */
export interface Logger {
  /** For looking into a single case; off unless asked for. */
  debug(fields: object, message: string): void;
  /** What works as it should: starts, ends, and one line for each attempt. */
  info(fields: object, message: string): void;
  /** What the relay recovers from by itself, but somebody may want to know. */
  warn(fields: object, message: string): void;
  /** What failed; an `err` among the fields is shown with its stack. */
  error(fields: object, message: string): void;
}

/** Oddities that an operator should look at: a closed list, so that each has a count before it first happens. */
export const anomalies = [
  "attempt not given up", "cleaner", "engine away", "event not readable", "following the log", "forgetter",
  "housekeeping", "key rotation", "leadership", "mapping process lost", "mapping process start",
  "metric not readable", "projection", "queue message", "request failed", "retention",
  "stream of a newer release", "stream set aside", "subscription", "sweeper", "turnstile",
] as const;
/** One of the {@link anomalies}. */
export type Anomaly = (typeof anomalies)[number];

/** The statuses of ingest answers. */
export const ingestStatuses = [200, 202, 400, 401, 403, 404, 413, 415, 422, 500, 503] as const;

/** Results of logins; `throttled` ones were not looked at, after too many that were refused. */
export const loginResults = ["succeeded", "refused", "throttled"] as const;
/** One of {@link loginResults}. */
export type LoginResult = (typeof loginResults)[number];

/** What is counted for `/metrics`. */
export interface Metrics {
  /** An event was accepted, durably. */
  accepted(): void;
  /** An accepted or replayed event finished. */
  finished(status: FinishedStatus): void;
  /** An event that was given up went back to work. */
  replayed(): void;
  /** An ingest request was answered with this status, `seconds` after it came. */
  ingest(status: number, seconds: number): void;
  /** An attempt ended, after `seconds` if anybody saw it; the reason is "none" where it succeeded. */
  attempt(outcome: "succeeded" | "failed", reason: FailureReason | "none", seconds: number | null): void;
  /** From acceptance to the first attempt's start, seconds. */
  firstAttemptDelay(seconds: number): void;
  /** Somebody tried to log in. */
  login(result: LoginResult): void;
  /** Something odd that an operator should look at. */
  anomaly(kind: Anomaly): void;
}

/** What work in the background needs: a clock, and where its anomalies are told. */
export interface Instruments {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "anomaly">;
}
