import { eventIdOf, keyOfEvent } from "../../kernel/domain/event-id.ts";
import { slotIn } from "../../kernel/domain/ordering.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { noStream } from "../../kernel/ports/event-store.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { destinations } from "../destinations/facts.ts";
import type { Message, MessageEvent, RoutedDelivery } from "../messages/facts.ts";
import { sumOf } from "../messages/messages.ts";
import { liveSubscriptions, subscriptions, type Subscription } from "../subscriptions/facts.ts";
import { messageOf, route, type Routing } from "../subscriptions/routing.ts";
import type { Acceptance, Duplicate, Duplicates } from "./duplicates.ts";
import { mappedUnder, type Posted } from "./posted.ts";
import type { AdmitAgain, FanOutAdmission } from "./producer-authentication.ts";

/** A message and the payloads that are made of it may have so many bytes together. */
const mostBytes = 768 * 1024;

type Skipped = Message["skipped"];
type Routed =
  Pick<Message, "payload" | "original" | "eventType" | "ownerId" | "tags" | "deliveries" | "skipped">;

/** Takes messages in: one append accepts a message, routes it, and creates all of its deliveries. */
export class MessageIntake {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "clock" | "ids" | "metrics" | "mappings">
      & { readonly keys: PlatformKeys; readonly duplicates: Duplicates },
  ) {
    this.#parts = parts;
  }

  /** Stores and routes the message, once; resolves when it is durable. Throws a Refusal. */
  async accept(
    admitted: FanOutAdmission, posted: Posted, admit: AdmitAgain<FanOutAdmission>,
  ): Promise<{ readonly accepted: Acceptance } | { readonly duplicate: Duplicate }> {
    const { store, clock, ids, keys, mappings, metrics, duplicates } = this.#parts;
    const { idempotencyKey, correlationId, traceparent } = posted;
    const { events } = await keys.get();
    const { admission: { key, sender }, mapped } = await mappedUnder(mappings, admitted, posted.received, admit);
    const { tenantId } = key;
    const now = clock.now();
    const at = timestamp(now);
    const eventKey = idempotencyKey === undefined ? keyOfEvent(ids.uuid()) : events.of(tenantId, idempotencyKey);
    const messageId = eventIdOf(now, eventKey);
    const message = mapped instanceof Refusal ? mapped : await this.#routed(sender, posted, mapped, (subscriptionId) =>
      eventIdOf(now, events.ofDelivery(messageId, subscriptionId)));
    if (message instanceof Refusal) {
      return { duplicate: await duplicates.insteadOf(message, tenantId, idempotencyKey) };
    }
    const data: Message = {
      messageId, tenantId, apiKeyId: key.id, senderId: sender.id, senderRevision: sender.revision,
      idempotencyKey: idempotencyKey ?? null, ...message, at,
    };
    const fact: MessageEvent = { type: "MessageAccepted", data };
    const origin: Origin = { actor: { type: "apiKey", id: key.id }, correlationId, causationId: null };
    const stream = streams.event(messageId);
    const entries = entriesOf([fact], origin, ids, traceparent);
    for (;;) {
      try {
        await store.append(stream, noStream, entries);
        for (const { problem } of data.deliveries) {
          metrics.accepted();
          if (problem !== null) metrics.finished("CriticalFailure");
        }
        return { accepted: acceptanceOf(data) };
      } catch (error) {
        const duplicate = await duplicates.inTheWay(error, tenantId, idempotencyKey, stream, origin);
        if (duplicate) return { duplicate };
      }
    }
  }

  async #routed(
    sender: FanOutAdmission["sender"], { received, eventType, ownerId, tags: given }: Posted, payload: string,
    deliveryOf: (subscriptionId: string) => string,
  ): Promise<Routed | Refusal> {
    if (!sender.active) return new Refusal("rejected", "the sender is inactive");
    const message = messageOf(sender, received, {
      eventType: eventType ?? null, ownerId: ownerId ?? null, tags: given ?? null, data: payload,
    });
    const read = (id: string) => this.#parts.aggregates.read(subscriptions, id);
    const routing = route(message, ...(await liveSubscriptions(read, sender.id, message.ownerId)));
    const { deliveries, skipped } = await this.#deliveries(sender.tenantId, routing, payload, deliveryOf);
    if (deliveries.length === 0 && sender.unmatched === "refuse") {
      return new Refusal("rejected", "no subscription of the sender matches the message");
    }
    const original = sender.mapping ? received : null;
    const texts = [payload, original, ...deliveries.map((delivery) => delivery.payload)];
    if (texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0) > mostBytes) {
      return new Refusal("too-large", `body: is too large: with what is made of it, ${mostBytes} bytes are the most`);
    }
    return {
      payload, original, ...(message.type !== null && { eventType: message.type }),
      ...(ownerId !== undefined && { ownerId }), ...(message.tags && { tags: message.tags }), deliveries, skipped,
    };
  }

  async #deliveries(
    tenantId: string, { matched, skipped }: Routing, data: string, deliveryOf: (subscriptionId: string) => string,
  ): Promise<{ readonly deliveries: readonly RoutedDelivery[]; readonly skipped: Skipped }> {
    const { aggregates } = this.#parts;
    const routed = await Promise.all(matched.map(async (subscription): Promise<RoutedDelivery | Skipped[number]> => {
      const { id: subscriptionId, revision, destinationId } = subscription;
      const { state: destination } = await aggregates.read(destinations, destinationId);
      if (!destination || destination.deleted) return { subscriptionId, reason: "destination deleted" };
      const { payload, problem } = await this.#payloadOf(tenantId, subscription, data);
      const slot = destination.ordering === "none" ? {} : slotIn(destination.ordering, payload ?? data);
      return {
        eventId: deliveryOf(subscriptionId), subscriptionId, revision, destinationId, payload, problem, ...slot,
      };
    }));
    return {
      deliveries: routed.filter((one) => "eventId" in one),
      skipped: [...skipped, ...routed.filter((one) => "reason" in one)],
    };
  }

  async #payloadOf(
    tenantId: string, { mapping }: Subscription, data: string,
  ): Promise<Pick<RoutedDelivery, "payload" | "problem">> {
    if (!mapping) return { payload: null, problem: null };
    const mapped = await this.#parts.mappings.apply(tenantId, mapping.expression, data);
    if ("problem" in mapped) return { payload: null, problem: `the subscription's mapping ${mapped.problem}` };
    return { payload: mapped.text === data ? null : mapped.text, problem: null };
  }
}

function acceptanceOf({ messageId, at, deliveries }: Message): Acceptance {
  return {
    eventId: messageId,
    status: sumOf(deliveries.map(({ problem }) => (problem === null ? "Pending" : "CriticalFailure"))),
    acceptedAt: at,
    deliveries: deliveries.map(({ eventId, destinationId: destinationUrlId }) => ({ eventId, destinationUrlId })),
  };
}
