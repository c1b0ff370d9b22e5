import type { Collection } from "../../src/kernel/ports/read-models.ts";
import type { Projection } from "../projection.ts";

/** A type of a tenant's events that has statistics of its own. */
export type EventTypeDocument = {
  /** `<tenantId>/<eventType>` */
  readonly key: string;
  readonly tenantId: string;
  readonly eventType: string;
};

/** How many types of a tenant have statistics: those that came first in the log. */
export const mostEventTypes = 100;

/** The types with statistics, by tenant. */
export const eventTypes: Collection<EventTypeDocument> = {
  name: "eventTypes",
  key: "key",
  fields: { key: "text", tenantId: "id", eventType: "text" },
  indexes: [["tenantId"]],
};

/** The first types of each tenant. Which these are depends on all entries before: the projection runner notes them. */
export const eventTypesProjection: Projection = { name: "eventTypes", version: 1, collections: [eventTypes], on: {} };
