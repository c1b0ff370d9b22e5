import type { DomainEvent } from "../../domain/domain-event.ts";
import { Refusal } from "../../domain/refusal.ts";
import { noStream, RevisionConflict, type EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import { entriesOf, type Origin } from "../origin.ts";

/** Appends under way at once: enough to share commits, few enough to leave the log to others. */
const together = 50;

/** Appends a fact behind the newest entry of a stream, readable or not: the fact depends on no earlier one. */
export async function record(
  { store, ids }: { readonly store: EventStore; readonly ids: Ids }, stream: string, fact: DomainEvent, origin: Origin,
): Promise<void> {
  for (;;) {
    const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
    try {
      await store.append(stream, newest?.revision ?? noStream, entriesOf([fact], origin, ids));
      return;
    } catch (error) {
      // Another request was first.
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

/**
 * Acts on events, some at once; resolves with the number of calls that resolved with true. Events whose act throws a
 * Refusal are passed over.
 */
export async function actOnEach(
  eventIds: readonly string[], act: (eventId: string) => Promise<boolean>,
): Promise<number> {
  let acted = 0;
  for (let at = 0; at < eventIds.length; at += together) {
    const done = await Promise.all(eventIds.slice(at, at + together).map((id) => unlessRefused(() => act(id))));
    acted += done.filter(Boolean).length;
  }
  return acted;
}

/** The answer; false where there is a Refusal instead. */
export async function unlessRefused(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
