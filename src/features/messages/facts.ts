import type { DataOf } from "../../kernel/domain/domain-event.ts";
import { at, internalFact, type EventsOf } from "../../kernel/domain/fact.ts";
import {
  anyText, boolean, integer, list, nullable, object, optional, text, texts, uuid,
} from "../../kernel/domain/schema.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { LogEntry, RecordedEvent } from "../../kernel/ports/event-store.ts";
import { slot, type Webhook, type WebhookEvent } from "../events/facts.ts";

const delivery = object({
  eventId: uuid("The event that delivers the message to this destination."),
  subscriptionId: uuid("The subscription that matched."),
  revision: integer(0, "The revision of the subscription's stream that was routed by."),
  destinationId: uuid(),
  payload: nullable(anyText(), "The very text to deliver, as the subscription maps it; null: the message's."),
  problem: nullable(anyText(), "Why the subscription's mapping made nothing of the message: nothing is sent."),
  slot,
});

/** Facts of the `event-…` streams of messages and of their deliveries. */
export const messageFacts = {
  MessageAccepted: internalFact({
    data: {
      messageId: uuid(), tenantId: uuid(), apiKeyId: uuid(), senderId: uuid(),
      senderRevision: integer(0, "The revision of the sender's stream that the message was accepted under."),
      idempotencyKey: nullable(text()),
      payload: anyText("The message as its sender maps it."),
      original: nullable(anyText(), "What was received, where the sender's mapping made something else of it."),
      eventType: optional(text("What kind of message it is; missing where nothing said so.")),
      ownerId: optional(text("The tenant's own name for the customer that it concerns; missing without one.")),
      tags: optional(texts("The message's tags; missing where there are none.")),
      deliveries: list(delivery, "An event for each destination whose subscription matched."),
      skipped: list(
        object({ subscriptionId: uuid(), reason: text() }), "The subscriptions that did not get it, and why.",
      ),
      at,
    },
    meaning: "A message was accepted and routed, and each of its deliveries was created.",
  }),
  MessageDeliveryPurged: internalFact({
    data: {
      messageId: uuid(), tenantId: uuid(), deliveryId: uuid("The event that delivered it."),
      last: boolean("Whether no delivery of the message is left: then the message goes, too."), at,
    },
    meaning: "A delivery of a message was purged.",
  }),
  DeliveryBegun: internalFact({
    data: { eventId: uuid(), tenantId: uuid(), messageId: uuid("Its acceptance is a part of this message's."), at },
    meaning: "The stream of a message's delivery began: it was accepted with the message.",
  }),
};
export type MessageEvent = EventsOf<typeof messageFacts>;

const ofMessages: ReadonlySet<string> = new Set(Object.keys(messageFacts));

/** An accepted message, and how it was routed. */
export type Message = Readonly<DataOf<MessageEvent, "MessageAccepted">>;
/** One delivery of a message, as it was routed. */
export type RoutedDelivery = Message["deliveries"][number];

/** The entry that accepted a message. */
export type AcceptedMessage = RecordedEvent<Extract<MessageEvent, { readonly type: "MessageAccepted" }>>;

/** The entry as the acceptance of a message; undefined for any other. */
export function messageIn(entry: LogEntry | undefined): AcceptedMessage | undefined {
  return entry?.unreadable === undefined && entry?.type === "MessageAccepted" ? entry as AcceptedMessage : undefined;
}

/** The delivery that an entry of a message's stream calls purged; undefined for any other entry. */
export function purgedIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || entry.type !== "MessageDeliveryPurged") return undefined;
  return (entry.data as DataOf<MessageEvent, "MessageDeliveryPurged">).deliveryId;
}

/** The facts that these deliveries of a message were purged, but for those of which that is recorded. */
export function purge(
  message: AcceptedMessage, purged: readonly string[], deliveryIds: readonly string[], at: string,
): MessageEvent[] {
  const { messageId, tenantId } = message.data;
  const gone = new Set(purged);
  return deliveryIds.filter((id) => !gone.has(id)).map((deliveryId) => {
    gone.add(deliveryId);
    const last = isPurgedWith(message, gone);
    return { type: "MessageDeliveryPurged", data: { messageId, tenantId, deliveryId, last, at } };
  });
}

/** Whether no delivery of a message is left without these. */
export function isPurgedWith({ data }: AcceptedMessage, purged: ReadonlySet<string>): boolean {
  return data.deliveries.every(({ eventId }) => purged.has(eventId));
}

/** The data of the entry that the stream of a delivery begins with; undefined for any other. */
export function deliveryIn(entry: LogEntry | undefined): DataOf<MessageEvent, "DeliveryBegun"> | undefined {
  if (entry?.unreadable !== undefined || entry?.type !== "DeliveryBegun") return undefined;
  return entry.data as DataOf<MessageEvent, "DeliveryBegun">;
}

/** The fact that the stream of a delivery begins with. */
export function begun({ id: eventId, tenantId, messageId }: Webhook, at: string): MessageEvent[] {
  return messageId === null ? [] : [{ type: "DeliveryBegun", data: { eventId, tenantId, messageId, at } }];
}

/** A delivery's part of its message's acceptance, as facts of the event; none if the message has no such delivery. */
export function factsOfDelivery(entry: AcceptedMessage, eventId: string): readonly RecordedEvent<WebhookEvent>[] {
  const delivery = entry.data.deliveries.find((one) => one.eventId === eventId);
  return delivery ? factsOf(entry, delivery) : [];
}

/** The entries with the facts of the deliveries behind the message that created them; most logs have none. */
export function withDeliveries(entries: readonly LogEntry[]): readonly LogEntry[] {
  if (!entries.some(({ type }) => ofMessages.has(type))) return entries;
  return entries.flatMap((entry): readonly LogEntry[] => {
    if (entry.unreadable !== undefined || !ofMessages.has(entry.type)) return [entry];
    return deliveryIn(entry) ? [] : [entry, ...eventFactsIn(entry)];
  });
}

/** The facts of events that an entry of an `event-…` stream tells: its own, or those of a message's deliveries. */
export function eventFactsIn(entry: RecordedEvent): readonly RecordedEvent<WebhookEvent>[] {
  if (!ofMessages.has(entry.type)) return [entry as RecordedEvent<WebhookEvent>];
  const message = messageIn(entry);
  return message ? message.data.deliveries.flatMap((delivery) => factsOf(message, delivery)) : [];
}

function factsOf(entry: AcceptedMessage, delivery: RoutedDelivery): readonly RecordedEvent<WebhookEvent>[] {
  const { messageId, tenantId, apiKeyId, senderId, senderRevision, payload, original, at } = entry.data;
  const { eventType, ownerId, tags } = entry.data;
  const { eventId, destinationId, problem, slot } = delivery;
  const classified = {
    ...(eventType !== undefined && { eventType }), ...(ownerId !== undefined && { ownerId }),
    ...(slot !== undefined && { slot }),
  };
  const head = { ...entry, stream: streams.event(eventId) };
  const accepted: RecordedEvent<WebhookEvent> = {
    ...head,
    type: "EventAccepted",
    data: {
      eventId, tenantId, destinationId, apiKeyId, senderId, senderRevision, idempotencyKey: null,
      payload: delivery.payload ?? payload, original: original ?? (delivery.payload === null ? null : payload), at,
      ...classified, ...(tags && { tags }), messageId,
    },
  };
  if (problem === null) return [accepted];
  const moved = { eventId, tenantId, destinationId, acceptedAt: at, at, ...classified };
  return [accepted, {
    ...head,
    revision: 1,
    type: "DeliveryExhausted",
    data: { ...moved, from: "Pending", to: "CriticalFailure", retryCount: 0, reason: "not mapped", error: problem },
  }];
}
