import type { Schemas } from "../../../client/src/index.ts";
import { durationText } from "../parts/duration.ts";

/** A fact of an event's own history. */
export type EventFact =
  | Schemas["EventAcceptedFact"] | Schemas["DeliveryAttemptStartedFact"] | Schemas["DeliverySucceededFact"]
  | Schemas["DeliveryFailedFact"] | Schemas["RetryScheduledFact"] | Schemas["RetryBroughtForwardFact"]
  | Schemas["DeliveryExhaustedFact"] | Schemas["EventReplayedFact"] | Schemas["EventCancelledFact"];

type Started = Schemas["DeliveryAttemptStartedFact"];
type Ended = Schemas["DeliverySucceededFact"] | Schemas["DeliveryFailedFact"];

/** An attempt as its facts tell it. Of one whose start is not in the history only its end is known. */
export interface Attempt {
  readonly number: number;
  readonly started: Started | undefined;
  /** The newest word about its end: a late success comes after the loss. */
  readonly ended: Ended | undefined;
}

const types: ReadonlySet<string> = new Set<EventFact["type"]>([
  "EventAccepted", "DeliveryAttemptStarted", "DeliverySucceeded", "DeliveryFailed", "RetryScheduled",
  "RetryBroughtForward", "DeliveryExhausted", "EventReplayed", "EventCancelled",
]);

/** Whether a fact of a history is one of an event that this page knows. */
export function isEventFact(fact: Schemas["HistoryPage"]["items"][number]): fact is EventFact {
  return types.has(fact.type);
}

/** The attempts by facts in the order of the log, up to a position where one is given; in order of their numbers. */
export function attemptsOf(facts: readonly EventFact[], upTo?: string): readonly Attempt[] {
  const attempts = new Map<number, Attempt>();
  for (const fact of facts) {
    if (upTo !== undefined && fact.position > upTo) break;
    if (fact.type === "DeliveryAttemptStarted") {
      const { attempt: number } = fact.data;
      attempts.set(number, { number, started: fact, ended: undefined });
    }
    if (fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed") {
      const { attempt: number } = fact.data;
      attempts.set(number, { number, started: attempts.get(number)?.started, ended: fact });
    }
  }
  return [...attempts.values()].sort((one, other) => one.number - other.number);
}

/** How an attempt came out. */
export type Outcome = "in flight" | "succeeded" | "failed" | "unknown";

/** How an attempt came out, by its newest fact. */
export function outcomeOf({ ended }: Attempt): Outcome {
  if (!ended) return "in flight";
  if (ended.type === "DeliverySucceeded") return "succeeded";
  return ended.data.reason === "outcome unknown" ? "unknown" : "failed";
}

/** How an attempt came out, in words: `500 in 3 ms`. */
export function outcomeText(attempt: Attempt): string {
  const { ended } = attempt;
  if (!ended) return "in flight";
  const { answer, durationMs } = ended.data;
  if (ended.type === "DeliveryFailed" && ended.data.reason === "outcome unknown") {
    return "outcome unknown: the worker was lost, the receiver may have seen it";
  }
  const took = durationMs === null ? "" : durationText(durationMs);
  if (ended.type === "DeliveryFailed" && (ended.data.reason !== "status" || !answer)) {
    return `${ended.data.error}${took === "" ? "" : `, after ${took}`}`;
  }
  return `${answer?.statusCode ?? "an answer"} in ${took}`;
}
