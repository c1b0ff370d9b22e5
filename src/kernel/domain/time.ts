/** ISO 8601 UTC with milliseconds, the only form of time in events and answers. */
export type Timestamp = string;

export const dayMs = 86_400_000;

// Callers convert the same millisecond many times in a row, either way.
let latestMs = Number.NaN;
let latest: Timestamp = "";
let parsed: Timestamp = "";
let parsedMs = Number.NaN;

/** Milliseconds since 1970 to a {@link Timestamp}. */
export function timestamp(ms: number): Timestamp {
  if (ms !== latestMs) {
    latest = new Date(ms).toISOString();
    latestMs = ms;
  }
  return latest;
}

/** A {@link Timestamp} to milliseconds since 1970. */
export function millis(at: Timestamp): number {
  if (at !== parsed) {
    parsedMs = Date.parse(at);
    parsed = at;
  }
  return parsedMs;
}
