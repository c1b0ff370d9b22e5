import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { anyObject, list, nullable, text, uuid } from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType, Folded } from "../../kernel/log/aggregates.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { mapping, type Mapping } from "../senders/facts.ts";
import type { Filter } from "./filter.ts";

const ids = {
  subscriptionId: uuid("The subscription."), tenantId: uuid(),
  senderId: uuid("The sender that fans out."),
  ownerId: nullable(text(), "It gets messages of this owner; null: of every owner, and of none."), at,
};
const settings = {
  eventTypes: nullable(list(text()), "The event types that it gets; null: all messages, with a type or without."),
  filter: nullable(anyObject(), "The condition on messages; null: none."),
  mapping,
};
const told = ["subscriptionId", "tenantId", "senderId", "ownerId", "at"] as const;

/** Facts of a `subscriptions-<senderId>.<owner>` stream. */
export const subscriptionFacts = {
  SubscriptionCreated: fact({
    data: {
      ...ids,
      destinationId: uuid("Where its messages are delivered."),
      ...settings,
    },
    meaning: "A destination gets messages of a sender.",
    words: "subscribed the destination {destinationId} to the sender {senderId}",
    shown: [...told, "destinationId", "eventTypes", "filter", "mapping"],
    audit: "subscription",
    creates: true,
    sets: { status: "Active" },
  }),
  SubscriptionChanged: fact({
    data: { ...ids, ...settings },
    meaning: "The event types, the filter or the mapping of the subscription changed.",
    words: "changed the subscription",
    shown: [...told, "eventTypes", "filter", "mapping"],
    changes: ["eventTypes", "filter", "mapping"],
    audit: "subscription",
    setting: "the subscription",
    example: {
      subscriptionId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e40", tenantId: examples.tenantId,
      senderId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0b", ownerId: "customer-42",
      eventTypes: ["invoice.paid", "refund.*"], filter: { data: { amount: { $gte: 100 } } }, mapping: null,
      at: examples.at,
    },
  }),
  SubscriptionActivated: fact({
    data: ids,
    meaning: "The subscription was activated.",
    words: "switched the subscription on",
    shown: told,
    audit: "subscription",
    setting: "the subscription was switched on",
    sets: { status: "Active" },
  }),
  SubscriptionDeactivated: fact({
    data: ids,
    meaning: "The subscription was deactivated. It gets no messages.",
    words: "switched the subscription off",
    shown: told,
    audit: "subscription",
    setting: "the subscription was switched off",
    sets: { status: "Inactive" },
  }),
  SubscriptionDeleted: fact({
    data: ids,
    meaning: "The subscription was deleted.",
    words: "deleted the subscription",
    shown: told,
    audit: "subscription",
    setting: "the subscription was deleted",
    sets: { status: "Deleted" },
  }),
};
export type SubscriptionEvent = EventsOf<typeof subscriptionFacts>;

/** The settings of a subscription that can change. */
export interface SubscriptionSettings {
  /** Exact types, or families such as `invoice.*`; null: every message, with a type or without. */
  readonly eventTypes: readonly string[] | null;
  readonly filter: Filter | null;
  /** Makes the payload from the message's data; null: it is delivered unchanged. */
  readonly mapping: Mapping | null;
}

/** A destination that gets messages of a sender. */
export interface Subscription extends SubscriptionSettings {
  readonly id: string;
  readonly tenantId: string;
  readonly senderId: string;
  readonly destinationId: string;
  /** Gets messages of this owner only; null: every message. */
  readonly ownerId: string | null;
  readonly active: boolean;
  /** The revision, in its stream, of the fact that changed it last. */
  readonly revision: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** The subscriptions of one owner, or without an owner, to one sender. */
export interface Subscriptions {
  readonly revision: number;
  /** Without deleted ones, in the order of their creation. */
  readonly live: readonly Subscription[];
}

const none: Subscriptions = { revision: -1, live: [] };

/** Folds one fact in. */
export function evolve(state: Subscriptions | undefined = none, event: SubscriptionEvent): Subscriptions {
  const revision = state.revision + 1;
  const { subscriptionId: id, at: updatedAt } = event.data;
  const live = state.live.filter((one) => one.id !== id);
  if (event.type === "SubscriptionCreated") {
    const { subscriptionId: _, at: createdAt, ...given } = event.data;
    return { revision, live: [...live, { ...given, id, active: true, revision, createdAt, updatedAt }] };
  }
  if (event.type === "SubscriptionDeleted") return { revision, live };
  const changed = (one: Subscription) => ({ ...withEvent(one, event), revision, updatedAt });
  return { revision, live: state.live.map((one) => (one.id === id ? changed(one) : one)) };
}

function withEvent(subscription: Subscription, event: SubscriptionEvent): Subscription {
  if (event.type === "SubscriptionActivated") return { ...subscription, active: true };
  if (event.type === "SubscriptionDeactivated") return { ...subscription, active: false };
  return withChanges(subscriptionFacts, subscription, event);
}

/** Subscriptions by {@link subscriptionsId}. */
export const subscriptions: AggregateType<Subscriptions, SubscriptionEvent> = {
  category: "subscriptions",
  stream: streams.subscriptions,
  evolve,
};

const hashLength = 32;

/** The id of the stream of an owner's subscriptions to a sender; of those without an owner where it is null. */
export function subscriptionsId(senderId: string, ownerId: string | null): string {
  return `${senderId}.${ownerId === null ? "all" : sha256(ownerId).slice(0, hashLength)}`;
}

/** The live subscriptions to a sender: of a message's owner, and those without an owner. Rejects as `read` does. */
export function liveSubscriptions(
  read: (id: string) => Folded<Subscriptions> | Promise<Folded<Subscriptions>>, senderId: string,
  ownerId: string | null,
): Promise<readonly [owners: readonly Subscription[], ownerless: readonly Subscription[]]> {
  const liveOf = async (owner: string | null) => (await read(subscriptionsId(senderId, owner))).state?.live ?? [];
  return Promise.all([ownerId === null ? [] : liveOf(ownerId), liveOf(null)]);
}
