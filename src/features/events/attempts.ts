import type { RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { AttemptView } from "../views.ts";
import { inProgress, outcomeOf, type AttemptEnded } from "./attempt-outcome.ts";
import type { WebhookEvent } from "./facts.ts";

/** The attempts that the facts of an event tell of, by number. An outcome that came late replaces "unknown". */
export function attemptsOf(facts: readonly RecordedEvent<WebhookEvent>[]): readonly AttemptView[] {
  const attempts = new Map<number, AttemptView>();
  for (const fact of facts) {
    if (fact.type === "DeliveryAttemptStarted") {
      const { attempt: number, at: startedAt, url: destinationUrl } = fact.data;
      attempts.set(number, {
        ...inProgress(number), startedAt, finishedAt: null, requestHeaders: null, responseHeaders: null,
        responseBody: null, truncated: false, destinationUrl,
      });
    } else if (fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed") {
      const started = attempts.get(fact.data.attempt);
      if (started) attempts.set(started.number, { ...started, ...endOf(fact) });
    }
  }
  return [...attempts.values()];
}

function endOf(fact: AttemptEnded): Partial<AttemptView> {
  const { at: finishedAt, requestHeaders, answer } = fact.data;
  return {
    ...outcomeOf(fact), finishedAt, requestHeaders,
    responseHeaders: answer?.headers ?? null,
    responseBody: answer?.body ?? null,
    truncated: answer?.truncated ?? false,
  };
}
