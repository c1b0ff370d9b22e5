import type { WebhookEvent } from "../../domain/event/events.ts";
import type { RecordedEvent } from "../../ports/event-store.ts";
import type { AttemptView } from "../views.ts";

/** The attempts that the facts of an event tell of, by number. An outcome that came late replaces "unknown". */
export function attemptsOf(facts: readonly RecordedEvent<WebhookEvent>[]): readonly AttemptView[] {
  const attempts = new Map<number, AttemptView>();
  for (const fact of facts) {
    if (fact.type === "DeliveryAttemptStarted") {
      const { attempt: number, at: startedAt, url: destinationUrl } = fact.data;
      attempts.set(number, {
        number, startedAt, finishedAt: null, durationMs: null, outcome: "in progress", statusCode: null, reason: null,
        error: null, requestHeaders: null, responseHeaders: null, responseBody: null, truncated: false, destinationUrl,
      });
    } else if (fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed") {
      const started = attempts.get(fact.data.attempt);
      if (started) attempts.set(started.number, { ...started, ...outcomeOf(fact) });
    }
  }
  return [...attempts.values()];
}

type Outcome = Extract<WebhookEvent, { type: "DeliverySucceeded" | "DeliveryFailed" }>;

function outcomeOf(fact: Outcome): Partial<AttemptView> {
  const { at: finishedAt, durationMs, requestHeaders, answer } = fact.data;
  const failed = fact.type === "DeliveryFailed";
  return {
    finishedAt, durationMs, requestHeaders,
    outcome: !failed ? "succeeded" : fact.data.reason === "outcome unknown" ? "unknown" : "failed",
    reason: failed ? fact.data.reason : null,
    error: failed ? fact.data.error : null,
    statusCode: answer?.statusCode ?? null,
    responseHeaders: answer?.headers ?? null,
    responseBody: answer?.body ?? null,
    truncated: answer?.truncated ?? false,
  };
}
