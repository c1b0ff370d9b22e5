/** ISO 8601 UTC with milliseconds, the only form of time in events and answers. */
export type Timestamp = string;

/** Milliseconds since 1970 to a {@link Timestamp}. */
export function timestamp(ms: number): Timestamp {
  return new Date(ms).toISOString();
}

/** A {@link Timestamp} to milliseconds since 1970. */
export function millis(at: Timestamp): number {
  return Date.parse(at);
}
