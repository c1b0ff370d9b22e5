import { tenantOf } from "../../kernel/domain/domain-event.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { isWaiting } from "../events/decide.ts";
import {
  inProgress, outcomeOf, withoutWithdrawn, type AttemptEnded, type AttemptOutcome, evolve, type WebhookEvent,
  type WebhookState,
} from "../events/facts.ts";
import { facts } from "../facts.ts";
import {
  type Cause, type Chapter, type Story, type StoryEntry, cause, circuitEntry, destinationEntry, eventEntry, notRecorded,
  type StoryFacts, type Told, entryOf,
} from "./story.ts";
import { Waits, type Claim, type StoryMoment, type Wait, type WaitEnd } from "./waits.ts";

/** Tells the story of an event. Each cause names the fact that states it; one that no fact states is `not-recorded`. */
export function tellStory(facts: StoryFacts, moment: StoryMoment): Story {
  const teller = new Teller(facts);
  for (const fact of withoutWithdrawn(facts.event)) teller.tell(fact);
  return teller.end(moment);
}

type Ended = Told<AttemptEnded>;
type Failed = Extract<Ended, { readonly type: "DeliveryFailed" }>;

interface Placed extends Omit<Chapter, "to" | "entries" | "attempt"> {
  readonly position: string;
  to: Timestamp | null;
  readonly entries: StoryEntry[];
  attempt?: AttemptOutcome;
}

const finalCauses = {
  "max attempts": "max-attempts", gone: "gone", "not retried": "not-retried", "not mapped": "not-mapped",
} as const;

class Teller {
  readonly #facts: StoryFacts;
  readonly #waits: Waits;
  readonly #chapters: Placed[] = [];
  /** The chapters of attempts without an outcome, by number. */
  readonly #open = new Map<number, Placed>();
  /** The facts that gave attempts up, by number. */
  readonly #lost = new Map<number, Failed>();
  #failed: Failed | undefined;
  #wait: Wait | undefined;
  #state: WebhookState;

  constructor(facts: StoryFacts) {
    this.#facts = facts;
    this.#waits = new Waits(facts);
  }

  tell(fact: Told<WebhookEvent>): void {
    const wait = this.#wait;
    const { position, data: { at } } = fact;
    this.#state = evolve(this.#state, fact);
    if (wait && this.#state && !isWaiting(this.#state)) {
      this.#endWait(wait, { at, position, ...(fact.type === "DeliveryAttemptStarted" && { claim: fact }) });
    }
    const entry = eventEntry(fact);
    const requested = [cause("requested", entry)];
    switch (fact.type) {
      case "EventAccepted":
        this.#add("accepted", entry, this.#facts.routed ? [cause("routed", entry, this.#facts.routed)] : []);
        return this.#begin(entry, { due: at, reasons: [cause("first-attempt", entry)] });
      case "DeliveryAttemptStarted":
        return this.#started(fact, wait);
      case "DeliveryAttemptWithdrawn":
        return;
      case "DeliverySucceeded":
      case "DeliveryFailed":
        return this.#ended(fact);
      case "RetryScheduled": {
        const planned = this.#plannedBy(fact);
        return this.#begin(entry, { due: fact.data.nextAttemptAt, entries: [entry], planned, reasons: planned });
      }
      case "RetryBroughtForward":
        if (!wait) return;
        this.#wait = { ...wait, due: fact.data.nextAttemptAt, entries: [...wait.entries, entry], reasons: requested };
        return;
      case "EventReplayed":
        this.#add("replayed", entry, [cause("requested", entry, { mode: fact.data.mode })]);
        return this.#begin(entry, { due: fact.data.nextAttemptAt, reasons: requested });
      case "DeliveryExhausted": {
        const { reason, retryCount, error } = fact.data;
        this.#add("exhausted", entry, [
          cause(finalCauses[reason], entry, error === undefined ? { retryCount } : { error }),
        ]);
        return;
      }
      case "EventCancelled":
        this.#add("cancelled", entry, [this.#cancelledBy(fact)]);
    }
  }

  end(moment: StoryMoment): Story {
    const now = this.#wait && this.#waits.now(this.#wait, moment);
    if (now?.chapter) this.#place(now.chapter, this.#wait!.position);
    const [accepted] = this.#facts.event;
    if (accepted) {
      for (const setting of settingsOf(this.#facts, accepted.position)) {
        this.#place(setting, setting.entries[0]!.position);
      }
    }
    const chapters = this.#chapters
      .sort((one, other) => (one.position === other.position ? 0 : one.position < other.position ? -1 : 1))
      .map(({ position: _, ...chapter }) => chapter);
    return { waiting: now?.waiting ?? null, chapters };
  }

  #begin(
    { time, position }: StoryEntry, plan: Pick<Wait, "due" | "reasons"> & Partial<Pick<Wait, "entries" | "planned">>,
  ): void {
    this.#wait = { since: time, position, entries: [], planned: [], ...plan };
  }

  #endWait(wait: Wait, end: WaitEnd): void {
    this.#wait = undefined;
    const chapter = this.#waits.over(wait, end);
    if (chapter) this.#place(chapter, wait.position);
  }

  #started(claim: Claim, wait: Wait | undefined): void {
    const { probe, attempt } = claim.data;
    const because = [...wait?.reasons ?? [notRecorded], ...probe ? [this.#probeOf(claim)] : []];
    const chapter = this.#add("attempt", eventEntry(claim), because, null);
    chapter.attempt = inProgress(attempt);
    this.#open.set(attempt, chapter);
  }

  #probeOf(claim: Claim): Cause {
    const { eventId } = claim.data;
    const claimed = this.#facts.circuit.findLast(({ type, position, data }) =>
      type === "CircuitProbeClaimed" && data.probe?.eventId === eventId && position < claim.position);
    return cause("probe", claimed ? circuitEntry(claimed) : eventEntry(claim));
  }

  #ended(fact: Ended): void {
    const { attempt, at } = fact.data;
    const entry = eventEntry(fact);
    const chapter = this.#open.get(attempt) ?? this.#endedLate(fact, entry);
    if (this.#open.delete(attempt)) {
      chapter.entries.push(entry);
      chapter.to = at;
    }
    chapter.attempt = outcomeOf(fact);
    if (fact.type !== "DeliveryFailed") return;
    this.#failed = fact;
    if (fact.data.reason === "outcome unknown") this.#lost.set(attempt, fact);
  }

  /** The chapter of an outcome whose attempt was over before, or whose start is not in the log. */
  #endedLate({ data: { attempt } }: Ended, entry: StoryEntry): Placed {
    const lost = this.#lost.get(attempt);
    return this.#add("attempt", entry, [lost ? lostBy(lost) : notRecorded]);
  }

  #plannedBy(fact: Extract<Told<WebhookEvent>, { readonly type: "RetryScheduled" }>): Cause[] {
    const { at, retryCount, nextAttemptAt, retryAfterMs } = fact.data;
    const failed = this.#failed;
    if (failed && retryAfterMs !== undefined) {
      return [cause("receiver-retry-after", eventEntry(failed), { retryAfterMs, nextAttemptAt })];
    }
    const lost = failed?.data.reason === "outcome unknown" ? [lostBy(failed)] : [];
    // After the first loss in a row the event is due at once, whatever the schedule says.
    if (lost.length > 0 && nextAttemptAt <= at) return lost;
    return [...lost, cause("retry-schedule", eventEntry(fact), { retryCount, nextAttemptAt })];
  }

  #cancelledBy(fact: Extract<Told<WebhookEvent>, { readonly type: "EventCancelled" }>): Cause {
    const entry = eventEntry(fact);
    const { reason } = fact.data;
    if (reason !== "destination deleted") return cause(reason, entry);
    const deleted = this.#facts.destination.find(({ type, position }) =>
      type === "DestinationDeleted" && position < fact.position);
    return cause("destination-deleted", deleted ? destinationEntry(deleted) : entry);
  }

  #add(kind: Chapter["kind"], entry: StoryEntry, because: readonly Cause[], to: Timestamp | null = entry.time): Placed {
    return this.#place({ kind, from: entry.time, to, entries: [entry], because }, entry.position);
  }

  #place(chapter: Chapter, position: string): Placed {
    const placed = { ...chapter, entries: [...chapter.entries], position };
    this.#chapters.push(placed);
    return placed;
  }
}

function lostBy(failed: Failed): Cause {
  return cause("lease-lost", eventEntry(failed), { attempt: failed.data.attempt });
}

/** The chapters about settings that changed after a position, in no order. */
function settingsOf({ destination, tenant, sender }: StoryFacts, after: string): Chapter[] {
  const changes = [
    ...destination.filter(isSetting).map(destinationEntry),
    ...tenant.filter(isSetting).map((fact) =>
      entryOf(fact, "tenant", tenantOf(fact) ?? "")),
    ...sender.filter(isSetting).map((fact) =>
      entryOf(fact, "sender", fact.data.senderId)),
  ];
  return changes.filter(({ position }) => position > after).map(settingOf);
}

function isSetting({ type }: { readonly type: string }): boolean {
  return facts.get(type)?.setting !== undefined;
}

function settingOf(entry: StoryEntry): Chapter {
  const { time, actor } = entry;
  const because = actor.type === "service" && actor.part !== "operator" ? [] : [cause("requested", entry)];
  return { kind: "setting", from: time, to: time, entries: [entry], because };
}
