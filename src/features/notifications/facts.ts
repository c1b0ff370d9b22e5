import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { list, oneOf, uuid } from "../../kernel/domain/schema.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";

/** What a tenant can be told of its destinations by a webhook. */
export const notificationTypes = [
  "destination.suspended", "destination.recovered", "destination.disabled", "destination.failing", "event.exhausted",
  "certificate.expiring",
] as const;
/** One of {@link notificationTypes}. */
export type NotificationType = (typeof notificationTypes)[number];

const ids = { subscriptionId: uuid("The notification subscription."), tenantId: uuid(), at };
const told = ["subscriptionId", "tenantId", "at"] as const;

/** Facts of a `notifications-<tenantId>` stream. */
export const notificationsFacts = {
  NotificationsSubscribed: fact({
    data: {
      ...ids, destinationId: uuid("Where notifications are delivered."),
      types: list(oneOf(notificationTypes), "The notifications that it gets.", 1),
    },
    meaning: "A destination gets notifications from now on.",
    words: "subscribed the destination {destinationId} to notifications",
    shown: [...told, "destinationId", "types"],
    audit: "notificationSubscription",
    creates: true,
  }),
  NotificationsUnsubscribed: fact({
    data: { ...ids, destinationId: uuid("Where notifications were delivered.") },
    meaning: "The notification subscription was deleted.",
    words: "ended the notifications to the destination {destinationId}",
    shown: [...told, "destinationId"],
    audit: "notificationSubscription",
  }),
};
export type NotificationsEvent = EventsOf<typeof notificationsFacts>;

/** A destination that is sent notifications of some types. */
export interface NotificationSubscription {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly types: readonly NotificationType[];
  readonly createdAt: Timestamp;
}

/** The notification subscriptions of a tenant, in the order of their creation. */
export type Notifications = readonly NotificationSubscription[];

/** Folds one fact in. */
export function evolve(state: Notifications | undefined = [], { type, data }: NotificationsEvent): Notifications {
  const { subscriptionId: id, tenantId, destinationId, at: createdAt } = data;
  if (type === "NotificationsUnsubscribed") return state.filter((other) => other.id !== id);
  return [...state, { id, tenantId, destinationId, types: data.types, createdAt }];
}

/** Notification subscriptions by the id of their tenant. */
export const notifications: AggregateType<Notifications, NotificationsEvent> = {
  category: "notifications",
  stream: streams.notifications,
  evolve,
};
