import { ownFailures, type Answer } from "../../features/events/facts.ts";
import type { FailureReason } from "../../kernel/domain/failure-reason.ts";
import { dayMs } from "../../kernel/domain/time.ts";

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

/** The outcome of an attempt whose worker was lost: its duration, request and answer are unknown. */
export const outcomeUnknown = {
  ok: false,
  reason: "outcome unknown",
  error: "outcome unknown: the worker was lost in the middle of the attempt",
  durationMs: null,
  requestHeaders: null,
  answer: null,
  retryAfterMs: null,
} as const;

/** The shortest pause after a 429, ms: without `Retry-After`, and with one of no time or a time that is over. */
const leastPauseMs = 1_000;

/**
 * The pause that a receiver asks for by a 429, in which no new attempt to its destination begins: ms, a second at
 * least, a day at most. Null for any other outcome.
 */
export function pauseAskedBy(outcome: Outcome | typeof outcomeUnknown): number | null {
  if (outcome.ok || outcome.answer?.statusCode !== 429) return null;
  return Math.min(Math.max(outcome.retryAfterMs ?? 0, leastPauseMs), dayMs);
}

/**
 * Whether a failed attempt counts for the circuit. A failure by the relay's own fault does not count, nor does a 429:
 * by it a healthy receiver asks for a slower pace.
 */
export function countsForCircuit(outcome: (Outcome & { readonly ok: false }) | typeof outcomeUnknown): boolean {
  return !ownFailures.has(outcome.reason) && pauseAskedBy(outcome) === null;
}
