import type { Logger, Metrics } from "../../src/kernel/ports/telemetry.ts";

const nothing = () => undefined;

/** Says nothing. */
export const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
/** Counts nothing. */
export const uncounted: Metrics = {
  accepted: nothing, finished: nothing, replayed: nothing, ingest: nothing, attempt: nothing,
  firstAttemptDelay: nothing, login: nothing, anomaly: nothing,
};
