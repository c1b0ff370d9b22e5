import type { NotificationSubscription } from "../../src/features/notifications/facts.ts";
import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, type Projection } from "../projection.ts";

/** A notification subscription. */
export type NotificationSubscriptionDocument = Pick<NotificationSubscription, keyof NotificationSubscription>;

/** The sort fields of the list. */
export const notificationSubscriptionSortFields = ["id", "createdAt"] as const;

/** Notification subscriptions that are not deleted. */
export const notificationSubscriptions: Collection<NotificationSubscriptionDocument> = {
  name: "notificationSubscriptions",
  key: "id",
  fields: { id: "id", tenantId: "id", destinationId: "id", types: "json", createdAt: "time" },
  indexes: notificationSubscriptionSortFields.map((sort) => ["tenantId", sort]),
};

/** Lists and counts notification subscriptions. */
export const notificationsProjection: Projection = {
  name: "notifications",
  version: 1,
  collections: [notificationSubscriptions],
  on: {
    NotificationsSubscribed: ({ subscriptionId: id, tenantId, destinationId, types, at: createdAt }) => [
      create(notificationSubscriptions, { id, tenantId, destinationId, types, createdAt }),
      add(tenantCounter(notificationSubscriptions, tenantId), 1),
    ],
    NotificationsUnsubscribed: ({ subscriptionId, tenantId }) => [
      remove(notificationSubscriptions, subscriptionId),
      add(tenantCounter(notificationSubscriptions, tenantId), -1),
    ],
  },
};
