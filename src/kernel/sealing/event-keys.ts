import { hkdfSync } from "node:crypto";
import { eventKeyOf, keyedHasher } from "../tools/hashing.ts";

const keyBytes = 32;
const purpose = "event ids";

/** Names events by idempotency key or replay, the same in every process, under a secret of the platform. */
export class EventKeys {
  /** Whether a release that named events without a secret may have accepted some here. */
  readonly mayBeUnkeyed: boolean;
  readonly #hash: (text: string) => string;

  constructor(
    { nameHashKey, keyedEventIds }: { readonly nameHashKey: Uint8Array; readonly keyedEventIds: boolean },
  ) {
    this.mayBeUnkeyed = !keyedEventIds;
    this.#hash = keyedHasher(new Uint8Array(hkdfSync("sha256", nameHashKey, "", purpose, keyBytes)));
  }

  /** The key (see domain/event/event-id) of the tenant's event with this idempotency key. */
  of(tenantId: string, idempotencyKey: string): string {
    return eventKeyOf(this.#hash(`${tenantId}/${idempotencyKey}`));
  }

  /** The key of the event that a replay makes of another one. No tenant's id begins like this text. */
  ofReplayed(replayId: string, sourceEventId: string): string {
    return eventKeyOf(this.#hash(`replay/${replayId}/${sourceEventId}`));
  }

  /** The key of the event that delivers a message to a subscription's destination. */
  ofDelivery(messageId: string, subscriptionId: string): string {
    return eventKeyOf(this.#hash(`delivery/${messageId}/${subscriptionId}`));
  }

  /** The key of the event by which a subscription gets a notification of this type about a destination's fact. */
  ofNotification(
    subscriptionId: string, type: string, { factId, about }: { readonly factId: string; readonly about: string },
  ): string {
    // The facts of a message's deliveries share an id.
    return eventKeyOf(this.#hash(`notification/${subscriptionId}/${type}/${factId}/${about}`));
  }
}
