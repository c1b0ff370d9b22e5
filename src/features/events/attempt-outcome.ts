import type { FailureReason, WebhookEvent } from "./facts.ts";

/** How an attempt came out, without what was sent and answered. */
export interface AttemptOutcome {
  readonly number: number;
  readonly outcome: "in progress" | "succeeded" | "failed" | "unknown";
  /** Null while it is in progress, and if the outcome is unknown. */
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly reason: FailureReason | null;
  readonly error: string | null;
}

/** A fact that ends an attempt. */
export type AttemptEnded = Extract<WebhookEvent, { readonly type: "DeliverySucceeded" | "DeliveryFailed" }>;

/** The outcome of an attempt whose end is not recorded. */
export function inProgress(number: number): AttemptOutcome {
  return { number, outcome: "in progress", durationMs: null, statusCode: null, reason: null, error: null };
}

/** The outcome that a fact tells of. */
export function outcomeOf({ type, data }: AttemptEnded): AttemptOutcome {
  const { attempt: number, durationMs, answer } = data;
  const statusCode = answer?.statusCode ?? null;
  if (type === "DeliverySucceeded") {
    return { number, outcome: "succeeded", durationMs, statusCode, reason: null, error: null };
  }
  const { reason, error } = data;
  const outcome = reason === "outcome unknown" ? "unknown" : "failed";
  return { number, outcome, durationMs, statusCode, reason, error };
}
