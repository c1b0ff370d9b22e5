import { refuse, type Refusal } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { isNewer } from "../../kernel/log/unreadable.ts";
import { logStart, noStream, RevisionConflict } from "../../kernel/ports/event-store.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import type { Webhook, WebhookState } from "../events/facts.ts";
import {
  hasKey, loadAcceptedByKey, loadShownByKey, loadShownOf, loadShownUnkeyed, eventView,
} from "../events/webhooks.ts";
import { recordUse } from "../keys/api-keys/decide.ts";
import { messageIn, type AcceptedMessage } from "../messages/facts.ts";
import { asEvent, loadMessageByKey, purgeDeliveries, type FoundEventView } from "../messages/messages.ts";
import type { MessageQueries } from "../messages/queries.ts";

/** The answer to a producer about an event or a message; for one accepted just now, without its later course. */
export interface Acceptance {
  readonly eventId: string;
  readonly status: string;
  readonly acceptedAt: string;
  /** Of a message: how it was routed. */
  readonly deliveries?: readonly { readonly eventId: string; readonly destinationUrlId: string }[];
}

/** An event or message that exists already under the idempotency key. */
export type Duplicate = FoundEventView & Acceptance;

const nameTaken = "X-Idempotency-Key: gives the id of another key's event; post this one under another key";

/** Finds the events and messages that exist already under idempotency keys. */
export class Duplicates {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "ids" | "clock">
      & { readonly keys: PlatformKeys; readonly messages: MessageQueries },
  ) {
    this.#parts = parts;
  }

  /** Undefined without a shown one. Throws a Refusal (unavailable). */
  async find(tenantId: string, idempotencyKey: string | undefined): Promise<Duplicate | undefined> {
    if (idempotencyKey === undefined) return undefined;
    const event = await this.#orAccepted(tenantId, idempotencyKey, () =>
      loadShownByKey(this.#parts, tenantId, idempotencyKey));
    if (event) return duplicateOf(event);
    const message = await this.#message(tenantId, idempotencyKey);
    const view = message && (await this.#parts.messages.viewOf(message));
    return view ? { eventId: view.id, ...asEvent(view) } : undefined;
  }

  /** One accepted by a release before 0.2. */
  async findUnkeyed(tenantId: string, idempotencyKey: string): Promise<Duplicate | undefined> {
    const event = await this.#orAccepted(tenantId, idempotencyKey, () =>
      loadShownUnkeyed(this.#parts, tenantId, idempotencyKey));
    return event && duplicateOf(event);
  }

  /** The event or message that a refused request repeats: a repetition is answered all the same. Throws the refusal. */
  async insteadOf(refusal: Refusal, tenantId: string, idempotencyKey: string | undefined): Promise<Duplicate> {
    const duplicate = await this.find(tenantId, idempotencyKey);
    if (!duplicate) throw refusal;
    return duplicate;
  }

  /** What is in the way of a new stream; undefined once the stream can begin. Throws `error`, if it is no conflict. */
  async inTheWay(
    error: unknown, tenantId: string, idempotencyKey: string | undefined, stream: string, origin: Origin,
  ): Promise<Duplicate | undefined> {
    if (!(error instanceof RevisionConflict) || idempotencyKey === undefined) throw error;
    // Nothing is in the way but a deletion for good, by another hand: asking again would never end.
    if (error.actual === noStream) throw error;
    const duplicate = await this.find(tenantId, idempotencyKey);
    if (!duplicate) await this.#clear(tenantId, idempotencyKey, stream, origin);
    return duplicate;
  }

  /** Lets the stream of a purged event or message begin again. Throws a Refusal (conflict) if it is another key's. */
  async #clear(tenantId: string, idempotencyKey: string, stream: string, origin: Origin): Promise<void> {
    const { state, revision, facts } = await loadShownOf(this.#parts, tenantId, stream);
    if (state && !hasKey(state, tenantId, idempotencyKey)) refuse("conflict", nameTaken);
    const [first] = facts;
    if (state || !first) return;
    const message = messageIn(first);
    const accepted = first.type === "EventAccepted" ? first : message;
    if (!accepted || (message && !hasKey(message.data, tenantId, idempotencyKey))) refuse("conflict", nameTaken);
    await recordUse(this.#parts, accepted.data.apiKeyId, accepted.data.at, origin);
    if (message) {
      // Another request of the key may have begun the stream meanwhile.
      if (await this.#parts.messages.viewOf(message)) return;
      const { messageId, deliveries } = message.data;
      const ids = deliveries.map(({ eventId }) => eventId);
      if (ids.length > 0) return purgeDeliveries(this.#parts, messageId, ids, origin);
    }
    // Read models that have not seen how it ended could never remove it.
    await this.#parts.freshness.settle(facts.at(-1)?.position ?? logStart);
    try {
      await this.#parts.store.deleteStream(stream, revision);
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }

  async #message(tenantId: string, idempotencyKey: string): Promise<AcceptedMessage | undefined> {
    const { store, keys } = this.#parts;
    return loadMessageByKey(store, (await keys.get()).events, tenantId, idempotencyKey);
  }

  /** The event found; as it was accepted where only a newer release can read its later facts. */
  async #orAccepted(
    tenantId: string, idempotencyKey: string, find: () => Promise<WebhookState>,
  ): Promise<WebhookState> {
    try {
      return await find();
    } catch (error) {
      const accepted = isNewer(error) && (await loadAcceptedByKey(this.#parts, tenantId, idempotencyKey));
      if (!accepted) throw error;
      return accepted;
    }
  }
}

function duplicateOf(event: Webhook): Duplicate {
  return { eventId: event.id, ...eventView(event) };
}
