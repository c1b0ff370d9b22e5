import type { DomainEvent, Metadata } from "../../kernel/domain/domain-event.ts";
import type { CircuitEvent } from "../circuits/facts.ts";
import type { DestinationEvent } from "../destinations/facts.ts";
import type { WebhookEvent } from "../events/facts.ts";
import type { SenderEvent } from "../senders/facts.ts";
import type { TenantEvent } from "../tenants/facts.ts";
import type { Cause, CauseCode, StoryEntry, SubjectType } from "./story.ts";

/** A fact, its place in the log, and its author. */
export type Told<Event extends DomainEvent> = Event & { readonly position: string; readonly metadata: Metadata };

/**
 * The facts that an event's story is told of, each list in the order of the log: the event's own, and what may be known
 * of its neighbours between its acceptance and its end. Of the circuit, and of the destination, some facts before may
 * be given, which tell how things stood.
 */
export interface StoryFacts {
  readonly event: readonly Told<WebhookEvent>[];
  readonly destination: readonly Told<DestinationEvent>[];
  readonly circuit: readonly Told<CircuitEvent>[];
  readonly tenant: readonly Told<TenantEvent>[];
  readonly sender: readonly Told<SenderEvent>[];
}

type Fact = Told<DomainEvent>;

/** The entry of a fact about something. */
export function entryOf(fact: Fact, subject: SubjectType, id: string): StoryEntry {
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

/** The cause that no entry states. */
export const notRecorded: Cause = { code: "not-recorded", entry: null, values: {} };
