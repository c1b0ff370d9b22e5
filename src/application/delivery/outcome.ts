import { ownFailures, type Answer, type FailureReason } from "../../domain/event/events.ts";
import { dayMs } from "../../domain/time.ts";

/** How an attempt ended, as its worker saw it. */
export type Outcome = {
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
} & (
  | { readonly ok: true; readonly answer: Answer }
  | {
      readonly ok: false;
      readonly reason: FailureReason;
      readonly error: string;
      readonly answer: Answer | null;
      readonly retryAfterMs: number | null;
    }
);

/** The outcome of an attempt that got no answer. */
export function failed(
  reason: FailureReason,
  error: string,
  durationMs: number,
  requestHeaders: Readonly<Record<string, string>>,
): Outcome & { readonly ok: false } {
  return { ok: false, reason, error, durationMs, requestHeaders, answer: null, retryAfterMs: null };
}

/** How an attempt ended whose worker was lost: nobody saw how long it took, what was sent, or what came back. */
export const outcomeUnknown = {
  ok: false,
  reason: "outcome unknown",
  error: "outcome unknown: the worker was lost in the middle of the attempt",
  durationMs: null,
  requestHeaders: null,
  answer: null,
  retryAfterMs: null,
} as const;

/** For how long a receiver that answers 429 is left alone where it does not say, ms. */
const usualPauseMs = 1_000;

/**
 * For how long a receiver asks for no new attempt to its destination, ms: by 429 only, a day at most. Null where it
 * does not.
 */
export function pauseAskedBy(outcome: Outcome | typeof outcomeUnknown): number | null {
  if (outcome.ok || outcome.answer?.statusCode !== 429) return null;
  return Math.min(outcome.retryAfterMs ?? usualPauseMs, dayMs);
}

/**
 * Whether a failed attempt counts for the circuit: not one that the relay itself is to blame for, nor a 429, by which a
 * receiver that is well asks for a slower pace.
 */
export function countsForCircuit(outcome: (Outcome & { readonly ok: false }) | typeof outcomeUnknown): boolean {
  return !ownFailures.has(outcome.reason) && pauseAskedBy(outcome) === null;
}
