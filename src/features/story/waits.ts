import { millis, type Timestamp } from "../../kernel/domain/time.ts";
import type { WebhookEvent } from "../events/facts.ts";
import { holdsOf, type Hold } from "./holds.ts";
import {
  type Cause, type CauseCode, type Chapter, type StoryEntry, type Waiting, cause, destinationEntry, eventEntry,
  notRecorded, type StoryFacts, type Told,
} from "./story.ts";

/** A due event that nothing holds is sent within this time; if it was not, no entry says why. */
const promptMs = 5_000;
/** The most holds that a wait names: the last ones. */
const mostHolds = 10;

/** The wait of an event for its next attempt. */
export interface Wait {
  readonly since: Timestamp;
  /** The place of the fact that it began with. */
  readonly position: string;
  readonly due: Timestamp;
  /** The event's own facts that planned it. */
  readonly entries: readonly StoryEntry[];
  readonly planned: readonly Cause[];
  /** Why an attempt is to come. */
  readonly reasons: readonly Cause[];
}

/** A claim of an attempt. */
export type Claim = Extract<Told<WebhookEvent>, { readonly type: "DeliveryAttemptStarted" }>;

/** How a wait ended: with a claim, or otherwise. */
export interface WaitEnd {
  readonly at: Timestamp;
  readonly position: string;
  readonly claim?: Claim;
}

/** The present, as far as facts of the event and its neighbours do not tell it. */
export interface StoryMoment {
  readonly time: Timestamp;
  /** The attempts under way at the destination; null where they are not known. */
  readonly inFlight: number | null;
  /** How many events of the destination wait before this one; null where that is not known. */
  readonly ahead: number | null;
}

/** In the order in which the last of several holds is the reason. */
const precedence: readonly CauseCode[] =
  ["proxy", "receiver-pause", "circuit-open", "destination-inactive", "destination-deleted"];

/** Tells why an event waited. */
export class Waits {
  readonly #holds: readonly Hold[];
  readonly #limit: { readonly entry: StoryEntry; readonly serverRateLimit: number } | undefined;
  readonly #deleted: StoryEntry | undefined;
  /** The fact that placed the event in the order of its destination; undefined without an order. */
  readonly #placed: StoryEntry | undefined;

  constructor(facts: StoryFacts) {
    this.#holds = holdsOf(facts);
    const limit = facts.destination.findLast((fact) =>
      fact.type === "DestinationRegistered" || fact.type === "DestinationRateLimitChanged");
    this.#limit = limit && "serverRateLimit" in limit.data
      ? { entry: destinationEntry(limit), serverRateLimit: limit.data.serverRateLimit } : undefined;
    const deleted = facts.destination.find(({ type }) => type === "DestinationDeleted");
    this.#deleted = deleted && destinationEntry(deleted);
    const begun = facts.event.findLast(({ type }) => type === "EventAccepted" || type === "EventReplayed");
    this.#placed = begun && begun.data.slot !== undefined ? eventEntry(begun) : undefined;
  }

  /** The chapter about a wait that is over; undefined where the event was sent at once. */
  over(wait: Wait, end: WaitEnd): Chapter | undefined {
    const holds = this.#during(wait, end.position).filter((hold) => !end.claim || isOverBy(hold, end));
    const causes = [...wait.planned, ...holds.map((hold) => hold.cause)];
    const told = end.claim && lastOf(end.claim, causes);
    const last = told ?? (isPrompt(wait, holds, end.at) ? undefined : notRecorded);
    const because = last ? [...causes.filter((one) => one !== last), last] : causes;
    return because.length > 0 ? chapterOf(wait, end.at, holds, because) : undefined;
  }

  /** Why an event waits at a moment, and the chapter about that, unless it is about to be sent. */
  now(wait: Wait, moment: StoryMoment): { readonly waiting: Waiting; readonly chapter: Chapter | undefined } {
    const { time, ahead } = moment;
    const holds = this.#during(wait, undefined);
    if (wait.due > time) {
      const waiting = waitingFor(wait.planned, wait.since, { until: wait.due, ahead: null });
      return { waiting, chapter: chapterOf(wait, null, [], wait.planned) };
    }
    const past = [...wait.planned, ...holds.map((hold) => hold.cause)];
    const reason = this.#reasonNow(wait, holds, moment);
    if (reason) {
      const because = [...past.filter((one) => one !== reason.cause), reason.cause];
      const waiting = waitingFor(because, later(wait.due, reason.since), { until: reason.until, ahead });
      return { waiting, chapter: chapterOf(wait, null, holds, because) };
    }
    const isSoon = isPrompt(wait, holds, time);
    const because = isSoon ? [...past, ...wait.reasons.filter((one) => !past.includes(one))] : [...past, notRecorded];
    const waiting = waitingFor(because, wait.since, { until: null, ahead });
    const isTold = past.length > 0 || !isSoon;
    return { waiting, chapter: isTold ? chapterOf(wait, null, holds, isSoon ? past : because) : undefined };
  }

  /** What holds a due event at a moment, if anything that is known. */
  #reasonNow(
    { due }: Wait, holds: readonly Hold[], { time, inFlight, ahead }: StoryMoment,
  ): { readonly cause: Cause; readonly since: Timestamp; readonly until: Timestamp | null } | undefined {
    if (this.#deleted) {
      return { cause: cause("destination-deleted", this.#deleted), since: this.#deleted.time, until: null };
    }
    const [last] = holds
      .filter(({ over }) => over === null || over > time)
      .sort((one, other) => precedence.indexOf(other.cause.code) - precedence.indexOf(one.cause.code));
    if (last) return { cause: last.cause, since: last.began.time, until: last.until };
    if (this.#placed && (ahead ?? 0) > 0) return { cause: cause("ordering", this.#placed), since: due, until: null };
    if (!this.#limit || inFlight === null || inFlight < this.#limit.serverRateLimit) return undefined;
    const { entry, serverRateLimit } = this.#limit;
    return { cause: cause("concurrency-limit", entry, { serverRateLimit, inFlight }), since: due, until: null };
  }

  /** The last holds that kept the event from being sent once it was due, before a position. */
  #during({ position, due }: Wait, before: string | undefined): Hold[] {
    const during = this.#holds.filter(({ began, ended, over }) =>
      (before === undefined || began.position < before) &&
      (ended === null || ended.position > position) &&
      (over === null || over > due));
    return during.slice(-mostHolds);
  }
}

function lastOf(claim: Claim, causes: readonly Cause[]): Cause | undefined {
  const { waitedFor } = claim.data;
  if (waitedFor === undefined) return undefined;
  const told = causes.findLast(({ code }) => code === waitedFor);
  const own = waitedFor === "receiver-pause" && causes.find(({ code }) => code === "receiver-retry-after");
  return told ?? (own || cause(waitedFor, eventEntry(claim)));
}

/** Whether a hold was over when an attempt was claimed: else the claim did not heed it. */
function isOverBy({ ended, over }: Hold, { at, position }: WaitEnd): boolean {
  return (ended !== null && ended.position < position) || (over !== null && over <= at);
}

/** Whether a due event was sent as soon as it could be, by what is known. */
function isPrompt({ due }: Wait, holds: readonly Hold[], at: Timestamp): boolean {
  const from = holds.reduce((latest, { over }) => later(latest, over ?? at), due);
  return millis(at) - millis(from) < promptMs;
}

function waitingFor(
  because: readonly Cause[], since: Timestamp, rest: Pick<Waiting, "until" | "ahead">,
): Waiting {
  return { reason: because.at(-1)?.code ?? "not-recorded", since, ...rest, because };
}

function chapterOf(
  { since, position, entries }: Wait, to: Timestamp | null, holds: readonly Hold[], because: readonly Cause[],
): Chapter {
  const turns = holds.flatMap(({ began, ended }) => [began, ...ended ? [ended] : []]);
  const during = turns.filter((entry) => entry.position > position && (to === null || entry.time <= to));
  const all = new Map([...entries, ...during].map((entry) => [entry.position, entry]));
  return { kind: "wait", from: since, to, entries: [...all.values()].sort(inOrder), because };
}

function inOrder(one: StoryEntry, other: StoryEntry): number {
  return one.position < other.position ? -1 : 1;
}

function later(one: Timestamp, other: Timestamp): Timestamp {
  return one > other ? one : other;
}
