import type { Actor, DomainEvent, Metadata } from "../../kernel/domain/domain-event.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { CircuitEvent } from "../circuits/facts.ts";
import type { DestinationEvent } from "../destinations/facts.ts";
import type { AttemptOutcome, WebhookEvent } from "../events/facts.ts";
import type { SenderEvent } from "../senders/facts.ts";
import type { TenantEvent } from "../tenants/facts.ts";

/** Why something happened to an event, or not yet. */
export const causeCodes = [
  "first-attempt", "retry-schedule", "receiver-retry-after", "circuit-open", "probe", "destination-inactive",
  "concurrency-limit", "rate-limit", "ordering", "receiver-pause", "proxy", "requested", "destination-deleted",
  "expired", "max-attempts", "gone", "not-retried", "not-mapped", "routed", "lease-lost", "not-recorded",
] as const;
export type CauseCode = (typeof causeCodes)[number];

export const chapterKinds =
  ["accepted", "attempt", "wait", "replayed", "exhausted", "cancelled", "setting"] as const;

/** The kinds of things that entries of a story are about. */
export const subjectTypes = ["event", "destination", "circuit", "tenant", "sender"] as const;
export type SubjectType = (typeof subjectTypes)[number];

/** An entry of the log, without its content. */
export interface StoryEntry {
  readonly position: string;
  readonly type: string;
  readonly subject: { readonly type: SubjectType; readonly id: string };
  readonly time: Timestamp;
  readonly actor: Actor;
}

/** A cause, and the entry of the log that states it; null where none does, which only `not-recorded` says. */
export interface Cause {
  readonly code: CauseCode;
  readonly entry: Omit<StoryEntry, "actor"> | null;
  /** Of the entry, what explains the cause. */
  readonly values: Readonly<Record<string, string | number | null>>;
}

/** A part of an event's story. */
export interface Chapter {
  readonly kind: (typeof chapterKinds)[number];
  readonly from: Timestamp;
  readonly to: Timestamp | null;
  readonly entries: readonly StoryEntry[];
  readonly because: readonly Cause[];
  readonly attempt?: AttemptOutcome;
}

/** Why an event waits. */
export interface Waiting {
  readonly reason: CauseCode;
  readonly since: Timestamp;
  /** When that reason ends, as far as it is planned. */
  readonly until: Timestamp | null;
  /** How many events of its destination wait before it; null where that is not known. */
  readonly ahead: number | null;
  /** The reason is the last of these. */
  readonly because: readonly Cause[];
}

export const notRecorded: Cause = { code: "not-recorded", entry: null, values: {} };

/** What happened to an event, in the order of the log, and why it waits, if it does. */
export interface Story {
  readonly waiting: Waiting | null;
  readonly chapters: readonly Chapter[];
}

/** A fact, its place in the log, and its author. */
export type Told<Event extends DomainEvent> = Event & { readonly position: string; readonly metadata: Metadata };

/** The facts of an event's story, in the log's order; of its neighbours those between acceptance and end. */
export interface StoryFacts {
  /** Of a delivery: its message, and the subscription that matched. */
  readonly routed?: { readonly messageId: string; readonly subscriptionId: string };
  readonly event: readonly Told<WebhookEvent>[];
  readonly destination: readonly Told<DestinationEvent>[];
  readonly circuit: readonly Told<CircuitEvent>[];
  readonly tenant: readonly Told<TenantEvent>[];
  readonly sender: readonly Told<SenderEvent>[];
}

/** The entry of a fact about something. */
export function entryOf(fact: Told<DomainEvent>, subject: SubjectType, id: string): StoryEntry {
  const { position, type, metadata: { at: time, actor } } = fact;
  return { position, type, subject: { type: subject, id }, time, actor };
}

/** The entry of an event's fact. */
export function eventEntry(fact: Told<WebhookEvent>): StoryEntry {
  return entryOf(fact, "event", fact.data.eventId);
}

/** The entry of a fact about a destination. */
export function destinationEntry(fact: Told<DestinationEvent>): StoryEntry {
  return entryOf(fact, "destination", fact.data.destinationId);
}

/** The entry of a fact about a circuit. */
export function circuitEntry(fact: Told<CircuitEvent>): StoryEntry {
  return entryOf(fact, "circuit", fact.data.destinationId);
}

/** A cause that an entry states. */
export function cause(code: CauseCode, { actor: _, ...entry }: StoryEntry, values: Cause["values"] = {}): Cause {
  return { code, entry, values };
}
