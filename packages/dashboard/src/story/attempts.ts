import type { Schemas } from "@webhook-relay/client";
import { durationText } from "../parts/times.ts";

type Chapter = Schemas["StoryChapter"];
type AttemptOutcome = NonNullable<Chapter["attempt"]>;

/** An attempt as the chapters of a story tell it. */
export interface Attempt extends AttemptOutcome {
  /** Its entries in the log, without their data. */
  readonly entries: readonly Schemas["StoryEntry"][];
}

/** The attempts of a story, in the order of their numbers. A late outcome comes in place of the loss. */
export function attemptsOf(chapters: readonly Chapter[]): readonly Attempt[] {
  const attempts = new Map<number, Attempt>();
  for (const { attempt, entries } of chapters) {
    if (!attempt) continue;
    const before = attempts.get(attempt.number)?.entries ?? [];
    attempts.set(attempt.number, { ...attempt, entries: [...before, ...entries] });
  }
  return [...attempts.values()].sort((one, other) => one.number - other.number);
}

/** How an attempt came out, in words: `500 in 3 ms`. */
export function outcomeText({ outcome, statusCode, durationMs, reason, error }: AttemptOutcome): string {
  const took = durationMs === null ? "" : durationText(durationMs);
  switch (outcome) {
    case "in progress":
      return "in flight";
    case "unknown":
      return "outcome unknown: the worker was lost, the receiver may have seen it";
    case "failed":
      if (reason !== "status" || statusCode === null) {
        return `${error ?? "failed"}${took === "" ? "" : `, after ${took}`}`;
      }
      return `${statusCode} in ${took}`;
    case "succeeded":
      return `${statusCode ?? "an answer"} in ${took}`;
  }
}
