import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, remove, type Projection } from "../projection.ts";

/** An accepted message. The rest is in the log; its deliveries are events. */
export type MessageDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly senderId: string;
  readonly eventType: string | null;
  readonly ownerId: string | null;
  readonly acceptedAt: string;
  /** The position of the fact that accepted it. */
  readonly acceptedIn: string;
  /** Whether no subscription matched it. */
  readonly unmatched: boolean;
};

/** Messages of which not every delivery was purged. Their ids sort by acceptance. */
export const messages: Collection<MessageDocument> = {
  name: "messages",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    senderId: "id",
    eventType: "text",
    ownerId: "text",
    acceptedAt: "time",
    acceptedIn: "text",
    unmatched: "boolean",
  },
  indexes: [
    ["tenantId"], ["tenantId", "senderId"], ["tenantId", "ownerId"], ["tenantId", "eventType"],
    ["tenantId", "unmatched"],
  ],
};

/** Lists messages. The projection runner hides purged ones that no subscription matched. */
export const messagesProjection: Projection = {
  name: "messages",
  version: 1,
  collections: [messages],
  on: {
    MessageAccepted: ({ messageId: id, tenantId, senderId, deliveries, at: acceptedAt, ...said }, { position }) => [
      create(messages, {
        id, tenantId, senderId, eventType: said.eventType ?? null, ownerId: said.ownerId ?? null, acceptedAt,
        acceptedIn: position, unmatched: deliveries.length === 0,
      }),
    ],
    MessageDeliveryPurged: ({ messageId, last }) => (last ? [remove(messages, messageId)] : []),
  },
};
