import { subscriptionFacts, type Subscription } from "../../src/features/subscriptions/facts.ts";
import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, settingHandlers, type Projection } from "../projection.ts";

type Kept = Omit<Subscription, "destinationId" | "revision">;

/** A subscription as the API shows it, except for the wording of its status. */
export type SubscriptionDocument = { readonly [Field in keyof Kept]: Kept[Field] } & {
  readonly destinationUrlId: string;
};

/** The stream that has a subscription's facts: that of an owner's subscriptions to a sender. */
export type SubscriptionPlaceDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly senderId: string;
  readonly destinationUrlId: string;
  readonly ownerId: string | null;
};

/** The sort fields of the list. */
export const subscriptionSortFields = ["id", "createdAt", "updatedAt"] as const;
const filters = ["senderId", "destinationUrlId", "ownerId"] as const;

/** Subscriptions that are not deleted. */
export const subscriptions: Collection<SubscriptionDocument> = {
  name: "subscriptions",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    senderId: "id",
    destinationUrlId: "id",
    ownerId: "text",
    active: "boolean",
    eventTypes: "json",
    filter: "json",
    mapping: "json",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [
    ...subscriptionSortFields.map((sort) => ["tenantId", sort] as const),
    ...filters.map((filter) => ["tenantId", filter] as const),
  ],
};

/** Where all subscriptions are in the log, deleted ones too: their histories stay readable. */
export const subscriptionPlaces: Collection<SubscriptionPlaceDocument> = {
  name: "subscriptionPlaces",
  key: "id",
  fields: { id: "id", tenantId: "id", senderId: "id", destinationUrlId: "id", ownerId: "text" },
  indexes: [["tenantId", "id"]],
};

/** Lists and counts subscriptions, and finds their streams. */
export const subscriptionsProjection: Projection = {
  name: "subscriptions",
  version: 2,
  collections: [subscriptions, subscriptionPlaces],
  on: {
    SubscriptionCreated: ({ subscriptionId: id, destinationId: destinationUrlId, at, ...settings }) => {
      const { tenantId, senderId, ownerId } = settings;
      return [
        create(subscriptions, { ...settings, id, destinationUrlId, active: true, createdAt: at, updatedAt: at }),
        add(tenantCounter(subscriptions, tenantId), 1),
        create(subscriptionPlaces, { id, tenantId, senderId, destinationUrlId, ownerId }),
      ];
    },
    ...settingHandlers(subscriptionFacts, subscriptions, "subscriptionId"),
    SubscriptionActivated: ({ subscriptionId, at }) =>
      [set(subscriptions, subscriptionId, { active: true, updatedAt: at })],
    SubscriptionDeactivated: ({ subscriptionId, at }) =>
      [set(subscriptions, subscriptionId, { active: false, updatedAt: at })],
    SubscriptionDeleted: ({ subscriptionId, tenantId }) => [
      remove(subscriptions, subscriptionId),
      add(tenantCounter(subscriptions, tenantId), -1),
    ],
  },
};
