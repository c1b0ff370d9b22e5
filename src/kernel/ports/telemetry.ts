import type { FailureReason } from "../domain/failure-reason.ts";
import type { Clock } from "./clock.ts";

/** One structured line; pino has this shape. Secrets never get here. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  /** Problems that the relay recovers from by itself, but that an operator may want to know of. */
  warn(fields: object, message: string): void;
  /** Failures; an `err` among the fields is shown with its stack. */
  error(fields: object, message: string): void;
}

/** Anomalies that an operator should look at: a closed list, so that each has a count before it first happens. */
export const anomalies = [
  "attempt not given up", "cleaner", "engine away", "event not readable", "following the log", "forgetter",
  "housekeeping", "key rotation", "leadership", "mapping process lost", "mapping process start",
  "metric not readable", "notifier", "outbound proxy", "projection", "queue message", "replayer", "request failed",
  "retention", "stream of a newer release", "stream set aside", "subscription", "sweeper", "turnstile",
] as const;
/** One of the {@link anomalies}. */
export type Anomaly = (typeof anomalies)[number];

export const ingestStatuses = [200, 202, 400, 401, 403, 404, 413, 415, 422, 500, 503] as const;

/** Results of logins; `throttled` ones were not looked at, after too many that were refused. */
export const loginResults = ["succeeded", "refused", "throttled"] as const;
export type LoginResult = (typeof loginResults)[number];

/** The counts for `/metrics`. */
export interface Metrics {
  accepted(): void;
  /** An accepted, replayed or resent event finished. */
  finished(status: "Succeeded" | "CriticalFailure" | "Cancelled"): void;
  replayed(): void;
  ingest(status: number, seconds: number): void;
  /** An attempt ended, after `seconds` if that is known; the reason is "none" if it succeeded. */
  attempt(outcome: "succeeded" | "failed", reason: FailureReason | "none", seconds: number | null): void;
  /** From acceptance to the first attempt's start, seconds. */
  firstAttemptDelay(seconds: number): void;
  login(result: LoginResult): void;
  anomaly(kind: Anomaly): void;
}

/** The instruments of background work: a clock, and the places where anomalies are reported. */
export interface Instruments {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "anomaly">;
}
