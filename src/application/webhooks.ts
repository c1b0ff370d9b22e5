import { Refusal } from "../domain/refusal.ts";
import type { WebhookEvent } from "../domain/event/events.ts";
import { evolve, type WebhookState } from "../domain/event/state.ts";
import { streams } from "../domain/streams.ts";
import { noStream, type EventStore, type RecordedEvent } from "../ports/event-store.ts";

/** A webhook event with the revision of its stream and its facts in order. */
export interface LoadedWebhook {
  readonly state: WebhookState;
  readonly revision: number;
  readonly facts: readonly RecordedEvent<WebhookEvent>[];
}

/** Folds the stream of a webhook event. Throws LogUnavailable, or a Refusal where it cannot be read. */
export async function loadWebhook(store: EventStore, eventId: string): Promise<LoadedWebhook> {
  const entries = await store.readStream(streams.event(eventId));
  let state: WebhookState;
  for (const entry of entries) {
    if (entry.unreadable !== undefined) throw new Refusal("unavailable", "this event's record cannot be read");
    state = evolve(state, entry as unknown as WebhookEvent);
  }
  const facts = entries as unknown as readonly RecordedEvent<WebhookEvent>[];
  return { state, revision: facts.at(-1)?.revision ?? noStream, facts };
}
