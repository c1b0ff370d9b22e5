import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";
import { inForce, type DestinationRecord, type EventRecord, type Past } from "./records.ts";

/** The mappings of subscriptions: one leaves a payload as it is, one marks it, and one makes nothing of it. */
export const expressions = ["same", "marked", "nothing"] as const;
type Expression = (typeof expressions)[number];

/** Facts in streams of messages and deliveries that move no event. */
export const messageFacts: ReadonlySet<string> = new Set(["DeliveryBegun", "MessageDeliveryPurged"]);

/** The customers that messages and subscriptions name. */
export const owners = ["customer-1", "customer-2"];

/** The payload as a mapping makes it; null for the mapping to nothing. */
export function mappedBy(expression: Expression | null, payload: string): string | null {
  if (expression === "nothing") return null;
  return expression === "marked" ? JSON.stringify({ ...(JSON.parse(payload) as object), marked: true }) : payload;
}

/** The part of a message that subscriptions look at. */
export interface Posted {
  readonly senderId: string;
  readonly eventType: string | undefined;
  readonly ownerId: string | undefined;
  readonly payload: string;
}

interface Settings {
  readonly eventTypes: readonly string[] | null;
  readonly filter: { readonly data: { readonly of: number } } | null;
  readonly mapping: { readonly expression: Expression } | null;
}

interface SubscriptionRecord {
  readonly id: string;
  readonly senderId: string;
  readonly destinationId: string;
  readonly ownerId: string | null;
  /** Null while it gets nothing: before its creation, while it is inactive, and after its deletion. */
  readonly past: Past<Settings | null>;
  settings: Settings;
}

/** One delivery, as the log routed it. */
export interface Routed {
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly destinationId: string;
  readonly payload: string | null;
  readonly problem: string | null;
  readonly slot?: number;
}

/** One accepted message. */
export interface MessageRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly idempotencyKey: string | null;
  readonly payload: string;
  readonly deliveries: readonly Routed[];
  deleted: boolean;
}

interface World {
  readonly events: ReadonlyMap<string, EventRecord>;
  readonly destinations: ReadonlyMap<string, DestinationRecord>;
}

/** A second, short statement of the routing of messages, and of the lives of their deliveries. */
export class Messages {
  readonly byId = new Map<string, MessageRecord>();
  readonly #newest = new Map<string, MessageRecord>();
  readonly #subscriptions = new Map<string, SubscriptionRecord>();
  /** Deliveries whose streams have begun. */
  readonly #begun = new Set<string>();
  readonly #now: () => number;
  readonly #world: World;

  constructor(now: () => number, world: World) {
    [this.#now, this.#world] = [now, world];
  }

  /** Learns a fact of a subscription. */
  subscribed({ type, data }: RecordedEvent): void {
    const given = data as unknown as Settings & Omit<SubscriptionRecord, "past" | "settings"> & {
      readonly subscriptionId: string;
    };
    const { subscriptionId: id, senderId, destinationId, ownerId, eventTypes, filter, mapping } = given;
    const since = this.#now();
    if (type === "SubscriptionCreated") {
      const past: Past<Settings | null> = [{ since: -Infinity, value: null }];
      this.#subscriptions.set(id, { id, senderId, destinationId, ownerId, past, settings: given });
    }
    const subscription = this.#subscriptions.get(id);
    if (!subscription) return;
    if (type === "SubscriptionCreated" || type === "SubscriptionChanged") {
      subscription.settings = { eventTypes, filter, mapping };
    }
    const ends = type === "SubscriptionDeactivated" || type === "SubscriptionDeleted";
    const isOff = ends || (type === "SubscriptionChanged" && subscription.past.at(-1)?.value === null);
    subscription.past.push({ since, value: isOff ? null : subscription.settings });
  }

  /** A stream begins: a message that began it before is deleted. */
  begin(stream: string): void {
    hold(this.#newest.get(stream)?.deleted !== false, "an event begins once", () => stream);
    this.#newest.delete(stream);
  }

  /** A message was accepted. */
  accepted({ stream, data }: RecordedEvent): MessageRecord {
    const { messageId: id, tenantId, idempotencyKey, payload, deliveries } = data as unknown as
      Omit<MessageRecord, "id"> & { readonly messageId: string };
    const reached = new Set(deliveries.map(({ destinationId }) => destinationId));
    hold(reached.size === deliveries.length, "a message reaches a destination once", () => id);
    const message = { id, tenantId, idempotencyKey, payload, deliveries, deleted: false };
    this.byId.set(id, message);
    this.#newest.set(stream, message);
    return message;
  }

  /** One of {@link messageFacts}: the stream of a delivery begins once. */
  committed({ type, data }: RecordedEvent): void {
    if (type !== "DeliveryBegun") return;
    const { eventId, messageId } = data as unknown as { readonly eventId: string; readonly messageId: string };
    const isRouted = this.byId.get(messageId)?.deliveries.some((delivery) => delivery.eventId === eventId);
    const isGone = this.#world.events.get(eventId)?.deleted !== false;
    hold(isRouted === true && !isGone && !this.#begun.has(eventId), "a delivery begins once, as it was routed",
      () => `${eventId} of ${messageId}`);
    this.#begun.add(eventId);
  }

  /** A stream was deleted; returns whether it was a message's. */
  deleted(stream: string): boolean {
    const message = this.#newest.get(stream);
    if (!message) return false;
    const left = message.deliveries.filter(({ eventId }) => this.#world.events.get(eventId)?.purgedAt === null);
    hold(left.length === 0, "only purged events are deleted", () => `${stream}: ${left.length} deliveries`);
    message.deleted = true;
    return true;
  }

  /** A producer got 202: compares the routing with the subscriptions that were in force since `from`. */
  checkRouting({ id, deliveries }: MessageRecord, posted: Posted, from: number): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.senderId !== posted.senderId) continue;
      const then = inForce(subscription.past, from);
      const delivery = deliveries.find(({ subscriptionId }) => subscriptionId === subscription.id);
      const what = () => `${id}: ${subscription.id}, ${JSON.stringify([posted, then])}`;
      const matches = then.map((settings) => doesMatch(subscription, settings, posted));
      hold(!delivery || matches.includes(true), "a message reaches only what subscribed to it", what);
      const { destinationId } = subscription;
      const isReached = deliveries.some((other) => other.destinationId === destinationId);
      const isGone = this.#world.destinations.get(destinationId)?.deleted === true;
      hold(isReached || isGone || matches.includes(false), "a message reaches all that subscribed to it", what);
      const made = then.map((settings) => mappedBy(settings?.mapping?.expression ?? null, posted.payload));
      const isMade = !delivery || made.includes(textOf(delivery, posted.payload));
      hold(isMade, "a delivery carries what its mapping made", what);
    }
  }
}

function doesMatch({ ownerId }: SubscriptionRecord, settings: Settings | null, posted: Posted): boolean {
  if (settings === null || (ownerId !== null && ownerId !== posted.ownerId)) return false;
  const { eventTypes, filter } = settings;
  const type = posted.eventType ?? "";
  const isOfType = eventTypes === null || eventTypes.some((wanted) =>
    wanted === type || (wanted.endsWith("*") && type.startsWith(wanted.slice(0, -1))));
  const { of } = JSON.parse(posted.payload) as { readonly of?: number };
  return isOfType && (filter === null || filter.data.of === of);
}

function textOf({ payload, problem }: Routed, posted: string): string | null {
  return problem === null ? payload ?? posted : null;
}
