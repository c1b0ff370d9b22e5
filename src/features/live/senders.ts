import { LRUCache } from "lru-cache";
import { tenantOf } from "../../kernel/domain/domain-event.ts";
import { categoryOf, streams } from "../../kernel/domain/streams.ts";
import type { EventStore, LogEntry, RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { WebhookEvent } from "../events/facts.ts";
import { deliveryIn, eventFactsIn } from "../messages/facts.ts";
import { factsInMessage } from "../messages/messages.ts";

/** More than the entries that are looked at together. */
const mostKnown = 20_000;
const readsAtOnce = 50;
const without = "";

/** The senders of events. Only the first entry of an event tells; it is read once for the entries that follow. */
export class EventSenders {
  readonly #store: Pick<EventStore, "readStream">;
  readonly #known = new LRUCache<string, string>({ max: mostKnown });

  constructor(store: Pick<EventStore, "readStream">) {
    this.#store = store;
  }

  /** The sender of an event of {@link learn}; null without one, and where its first entry is gone or unreadable. */
  of(eventId: string): string | null {
    return this.#known.get(eventId) || null;
  }

  /** Reads the senders of the followed tenants' events that are not known yet. Rejects with LogUnavailable. */
  async learn(
    entries: readonly LogEntry[], followed: { readonly has: (tenantId: string) => boolean },
  ): Promise<void> {
    const unknown = new Set<string>();
    for (const entry of entries) {
      if (entry.unreadable !== undefined || categoryOf(entry.stream) !== "event") continue;
      if (!followed.has(tenantOf(entry) ?? "")) continue;
      for (const { type, data } of eventFactsIn(entry)) {
        if (type === "EventAccepted") this.#known.set(data.eventId, data.senderId ?? without);
        else if (!this.#known.has(data.eventId)) unknown.add(data.eventId);
      }
    }
    const ids = [...unknown];
    for (let at = 0; at < ids.length; at += readsAtOnce) {
      await Promise.all(ids.slice(at, at + readsAtOnce).map((id) => this.#read(id)));
    }
  }

  async #read(eventId: string): Promise<void> {
    const [entry] = await this.#store.readStream(streams.event(eventId), { limit: 1 });
    const delivery = deliveryIn(entry);
    const [first] = delivery ? await factsInMessage(this.#store, delivery.messageId, eventId) : [entry];
    const isKnown = first && first.unreadable === undefined && first.type === "EventAccepted";
    const senderId = isKnown ? (first as RecordedEvent<WebhookEvent & { type: "EventAccepted" }>).data.senderId : null;
    this.#known.set(eventId, senderId ?? without);
  }
}
