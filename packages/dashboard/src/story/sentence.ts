import type { Schemas } from "@webhook-relay/client";
import { between, durationText } from "../parts/times.ts";
import type { Attempt } from "./attempts.ts";
import { causeWords } from "./causes.ts";
import { contextOf, waitTimes, type Chapter, type Telling } from "./chapters.ts";
import { failureWords } from "./failures.ts";
import { capital, counted, joined, linked, type Words } from "./words.ts";

/** Whether a sentence is about the present or about a moment before. */
export type Tense = "now" | "then";

/** The subject of a sentence. */
export interface Told extends Telling {
  readonly waiting: Schemas["Story"]["waiting"];
  readonly chapters: readonly Chapter[];
  /** The receiver's words at the last failed attempt, if they are known. */
  readonly said?: string | undefined;
}

const sentences: Readonly<Record<Schemas["EventStatus"], (told: Told, tense: Tense) => Words>> = {
  Pending: (told, tense) => waits(told, tense),
  WaitingRetry: (told, tense) => {
    const failed = failedOf(told);
    const count = `${counted(told.event.currentRetryCount, "attempt")} ${tense === "now" ? "failed" : "had failed"}`;
    const failures = failed.length === 0 ? [count] : failureWords(failed, { tense, said: told.said });
    return [...capital(failures), ". ", ...waits(told, tense)];
  },
  Processing: inFlight,
  Failed: ({ attempts }, tense) =>
    [`Attempt ${attempts.at(-1)?.number ?? ""} ${tense === "now" ? "failed" : "had just failed"}.`],
  Succeeded: ({ event, attempts }, tense) => {
    const by = attempts.findLast(({ outcome }) => outcome === "succeeded")?.number;
    const after = event.deliveredAt === null ? "" : `, ${spent(event.acceptedAt, event.deliveredAt)} after acceptance`;
    return [`${tense === "now" ? "Delivered" : "Had been delivered"}${by === undefined ? "" : ` by attempt ${by}`}${
      after}.`];
  },
  CriticalFailure: notDelivered,
  Cancelled: (told, tense) => {
    const { attempts } = told;
    const tried = attempts.length === 0 ? "before any attempt" : `after ${counted(attempts.length, "attempt")}`;
    return ended(told, "cancelled", `${tense === "now" ? "Cancelled" : "Had been cancelled"} ${tried}`);
  },
};

/** The state of an event, and its cause, in one sentence or two. */
export function sentence(told: Told, tense: Tense): Words {
  return sentences[told.event.status](told, tense);
}

/** Why an event waits, in words, with the end of that as far as it is planned. */
function waitingWords(waiting: NonNullable<Told["waiting"]>, telling: Telling, tense: Tense): Words {
  const cause = waiting.because.at(-1);
  const why = cause ? causeWords(cause, contextOf(telling)) : ["the log names no cause"];
  const { until } = waiting;
  if (until === null) return why;
  if (waiting.reason === "circuit-open" && cause) {
    const { failures } = cause.values;
    return [linked("circuit open", cause.entry), " until ", { time: until, ...tense === "now" && { counts: true } },
      failures === undefined ? "" : `, after ${counted(failures, "failure")} in a row`];
  }
  const isPlanned = waiting.reason === "retry-schedule" || waiting.reason === "receiver-retry-after";
  return [...why, isPlanned ? ", due " : ", until ", { time: until }];
}

function waits(told: Told, tense: Tense): Words {
  const { waiting, attempts } = told;
  const next = (attempts.at(-1)?.number ?? 0) + 1;
  const what = next === 1 ? "its first attempt" : `attempt ${next}`;
  const begin = `${tense === "now" ? "Waits" : "Was waiting"} for ${what}: `;
  if (!waiting) return [begin, "the log names no cause."];
  const { ahead } = waiting;
  const due = tense === "now" ? "are due" : "were due";
  const before = ahead === null || ahead === 0
    ? "" : ` ${ahead === 1 ? `One event of its destination ${due.replace("are", "is").replace("were", "was")}` : `${
      ahead} events of its destination ${due}`} before it.`;
  return [begin, ...waitingWords(waiting, told, tense), `.${before}`];
}

function inFlight({ chapters }: Told, tense: Tense): Words {
  const index = chapters.findLastIndex(({ kind, to }) => kind === "attempt" && to === null);
  const chapter = chapters[index];
  const number = chapter?.attempt?.number;
  const begin = `${number === undefined ? "An attempt" : `Attempt ${number}`} ${
    tense === "now" ? "is" : "was"} in flight`;
  const probe = chapter?.because.find(({ code }) => code === "probe");
  if (!probe) return [`${begin}.`];
  const wait = chapters.slice(0, index).findLast(({ kind }) => kind === "wait");
  const held = wait?.because.some(({ code }) => code === "circuit-open") ? waitTimes(wait).addedMs : null;
  return [`${begin}, as `, ...causeWords(probe), held === null ? "." : ` that had held it ${durationText(held)}.`];
}

/** The failed attempts since acceptance, or the last replay. */
function failedOf({ attempts, event: { currentRetryCount } }: Told): readonly Attempt[] {
  const failed = attempts.filter(({ outcome }) => outcome === "failed" || outcome === "unknown");
  return currentRetryCount === 0 ? [] : failed.slice(-currentRetryCount);
}

const finalWords: Partial<Record<Schemas["CauseCode"], string>> = {
  "max-attempts": ", the maximum",
  gone: ", which ends it",
  "not-retried": ", which the destination's retry policy does not list",
};

function notDelivered(told: Told, tense: Tense): Words {
  const begin = `${tense === "now" ? "Not delivered" : "Had not been delivered"}: `;
  const causes = told.chapters.findLast(({ kind }) => kind === "exhausted")?.because ?? [];
  if (causes.length === 0) return [begin, "the log names no cause."];
  const failed = failedOf(told);
  const context = contextOf(told);
  const because = causes.map((cause): Words => {
    const ends = finalWords[cause.code];
    if (failed.length === 0 || ends === undefined) return causeWords(cause, context);
    const failures = failureWords(failed, { tense, entry: cause.entry, said: told.said });
    return [...failures, told.event.test && cause.code === "max-attempts" ? ", and a test event is not retried" : ends];
  });
  return [begin, ...joined(because, "; "), "."];
}

function ended(told: Told, kind: Chapter["kind"], begin: string): Words {
  const { chapters, event } = told;
  const chapter = chapters.findLast((one) => one.kind === kind);
  if (!chapter || chapter.because.length === 0) return [`${begin}: the log names no cause.`];
  const because = joined(chapter.because.map((cause) => causeWords(cause, contextOf(told))), "; ");
  return [`${begin}, ${spent(event.acceptedAt, chapter.from)} after acceptance: `, ...because, "."];
}

function spent(from: string, to: string): string {
  return durationText(Math.max(0, between(from, to)));
}
