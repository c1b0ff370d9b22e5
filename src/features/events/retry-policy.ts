import { dayMs, millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";

/** When failed deliveries are tried again. */
export interface RetryPolicy {
  /** Waits in milliseconds after the 1st, 2nd, … failure; the last one repeats. */
  readonly scheduleMs: readonly number[];
  /** The largest share of the wait that randomness may add. */
  readonly jitter: number;
}

/**
 * The moment of the next attempt after the `retryCount`-th failure at `now`: the schedule's wait plus
 * `random` (0 to 1) times the jitter, or the receiver's `Retry-After` (milliseconds, a day at most) if that is later;
 * never earlier than the schedule says.
 */
export function nextAttemptAt(
  policy: RetryPolicy,
  retryCount: number,
  now: Timestamp,
  random: number,
  retryAfterMs: number | null,
): Timestamp {
  const last = policy.scheduleMs.length - 1;
  const wait = policy.scheduleMs[Math.min(retryCount - 1, last)] ?? dayMs;
  const planned = wait + Math.floor(wait * policy.jitter * random);
  return timestamp(millis(now) + Math.max(planned, Math.min(retryAfterMs ?? 0, dayMs)));
}
