import type { Answer, FailureReason } from "../../domain/event/events.ts";

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
