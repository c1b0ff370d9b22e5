import type { Schemas } from "@webhook-relay/client";
import { factType } from "../parts/fact-words.ts";
import { between, durationText } from "../parts/times.ts";
import { outcomeText, type Attempt } from "./attempts.ts";
import { actorText, causeWords, type Cause, type CauseContext } from "./causes.ts";
import { capital, joined, linked, type Piece, type Words } from "./words.ts";

/** A chapter of a story. */
export type Chapter = Schemas["StoryChapter"];

/** The context of the words of a chapter. */
export interface Telling {
  readonly event: Schemas["Event"];
  readonly attempts: readonly Attempt[];
  /** The authors of the story's entries by their positions. */
  readonly authors: ReadonlyMap<string, Schemas["Actor"]>;
  /** The names of users, service accounts and API keys by their ids, as far as the reader may see them. */
  readonly names: ReadonlyMap<string, string>;
}

/** The look of a chapter: the tone of its glyph. */
export type ChapterTone = "ok" | "bad" | "wait" | "info" | "off" | "act";

/** A chapter in words. */
interface ChapterWords {
  readonly title: string;
  readonly tone: ChapterTone;
  readonly text: Words;
  /** The number of its attempt; undefined for other chapters. */
  readonly attempt?: number;
}

const tellers: Readonly<Record<Chapter["kind"], (chapter: Chapter, telling: Telling) => ChapterWords>> = {
  accepted: (chapter, telling) => ({ title: "Accepted", tone: "info", text: acceptance(chapter, telling) }),
  attempt: attemptChapter,
  wait: (chapter, telling) => ({
    title: chapter.to === null ? "Waiting" : "Waited", tone: "wait", text: waitText(chapter, contextOf(telling)),
  }),
  replayed: (chapter, telling) => {
    const isResent = chapter.because.some(({ values }) => values.mode === "resend");
    return { title: isResent ? "Resent" : "Replayed", tone: "act", text: causes(chapter, telling) };
  },
  exhausted: (chapter, telling) => ({ title: "Failed", tone: "bad", text: causes(chapter, telling) }),
  cancelled: (chapter, telling) => ({ title: "Cancelled", tone: "off", text: causes(chapter, telling) }),
  setting: (chapter, telling) => ({
    title: "Setting changed", tone: "act",
    text: [...settingText(chapter), ...chapter.because.length === 0 ? [] : [", "], ...causes(chapter, telling, false)],
  }),
};

/** A chapter in words: its title and its causes. Without an entry that states a cause, the words say so. */
export function chapterWords(chapter: Chapter, telling: Telling): ChapterWords {
  return tellers[chapter.kind](chapter, telling);
}

/** How long a wait was planned to take, and how much longer it took; milliseconds. */
export function waitTimes({ from, to, because }: Chapter):
{ readonly due: string | undefined; readonly plannedMs: number; readonly addedMs: number | null } {
  const due = because.map(({ values }) => values.nextAttemptAt).findLast((at) => at !== undefined);
  const plannedMs = due === undefined ? 0 : between(from, due);
  return { due, plannedMs, addedMs: to === null ? null : between(due ?? from, to) };
}

/** The causes that planned a wait; the others held the event once it was due. */
const planning: readonly Cause["code"][] = ["retry-schedule", "receiver-retry-after", "lease-lost"];
/** A claim comes some milliseconds after its event is due: less than this is no delay. */
const promptMs = 50;

function waitText(chapter: Chapter, context: CauseContext): Words {
  const { due, plannedMs, addedMs } = waitTimes(chapter);
  const planned = chapter.because.filter(({ code }) => planning.includes(code));
  const holds = chapter.because.filter(({ code }) => !planning.includes(code));
  const plan: Words = due === undefined
    ? joined(planned.map((cause) => causeWords(cause, context)), ", ")
    : [`${durationText(plannedMs)}, due `, { time: due }, ": ",
      ...joined(planned.map((cause) => causeWords(cause, context)), ", ")];
  const isLate = addedMs !== null && addedMs >= promptMs;
  const reasons: readonly Words[] = holds.length > 0
    ? holds.map((cause) => causeWords(cause, context)) : isLate ? [["the log names no cause"]] : [];
  const added: Words = isLate
    ? [due === undefined ? `${durationText(addedMs)}: ` : `sent ${durationText(addedMs)} later: `] : [];
  return capital([...plan, ...plan.length > 0 && reasons.length > 0 ? ["; "] : [], ...added, ...joined(reasons, "; ")]);
}

function attemptChapter({ attempt, because, to }: Chapter, telling: Telling): ChapterWords {
  const why = joined(because.map((cause) => causeWords(cause, contextOf(telling))), "; ");
  if (!attempt) return { title: "Attempt", tone: to === null ? "info" : "wait", text: capital(why) };
  const tones = { "in progress": "info", succeeded: "ok", failed: "bad", unknown: "wait" } as const;
  return {
    title: `Attempt ${attempt.number}`, tone: tones[attempt.outcome], attempt: attempt.number,
    text: [...capital([outcomeText(attempt)]), " · ", ...why],
  };
}

function acceptance({ entries: [entry], because }: Chapter, telling: Telling): Words {
  const { event, names } = telling;
  const pieces: Words[] = [
    ...entry ? [["by ", actorText(entry.actor, names)]] : [["the log does not say by whom"]],
    ...event.idempotencyKey === null ? [] : [[`under the key ${event.idempotencyKey}`]],
    ...event.test ? [["as a test event"]] : [],
    ...event.sourceEventId === null
      ? [] : [["as a copy of event ", { text: event.sourceEventId.slice(0, 13), eventId: event.sourceEventId }]],
    ...because.map((cause) => causeWords(cause, contextOf(telling))),
  ];
  return capital(joined(pieces, ", "));
}

function causes(chapter: Chapter, telling: Telling, isSentence = true): Words {
  const { because } = chapter;
  const context = contextOf(telling);
  const text = because.length === 0
    ? ["the log names no cause"] : joined(because.map((cause) => causeWords(cause, context)), "; ");
  return isSentence ? capital(text) : because.length === 0 ? [] : text;
}

function settingText({ entries }: Chapter): Words {
  const texts = entries.map((entry): Piece => linked(factType(entry.type).setting ?? entry.type, entry));
  return capital(joined(texts.map((text) => [text]), ", "));
}

/** The context of the words of causes. */
export function contextOf({ event, authors, names }: Telling): CauseContext {
  return { test: event.test, senderId: event.senderId, authors, names };
}
