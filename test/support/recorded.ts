import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";
import type { NewEntry } from "../../src/kernel/ports/event-store.ts";
import { position } from "./position.ts";

/** One for every fact whose salt does not matter. */
export const salt = "c2FsdCBvZiAxMjggYml0cw";

/** Of a fact that nobody in particular caused. */
export const metadata: NewEntry["metadata"] = {
  actor: { type: "anonymous" },
  correlationId: "spec",
  causationId: null,
  at: "2026-01-15T09:30:00.000Z",
  salt,
};

/** A fact as the n-th of a log in memory, each in a stream of its own. */
export function recorded<Event extends DomainEvent>(fact: Event, n: number) {
  const { at = metadata.at } = fact.data as { readonly at?: string };
  return { ...fact, position: position(n), revision: 0, metadata: { ...metadata, at } };
}
