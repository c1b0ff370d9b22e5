import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { put, remove, type Projection } from "../projection.ts";

/** After how many days a tenant's finished events are purged. */
export type RetentionDocument = {
  readonly tenantId: string;
  readonly retentionDays: number;
};

/** Tenants that do not keep their events for ever, by id; read to purge events that are too old. */
export const retention: Collection<RetentionDocument> = {
  name: "retention",
  key: "tenantId",
  fields: { tenantId: "id", retentionDays: "number" },
  indexes: [],
};

/** How long tenants keep their events, where not for ever. */
export const retentionProjection: Projection = {
  name: "retention",
  version: 2,
  collections: [retention],
  on: {
    TenantRetentionChanged: ({ tenantId, retentionDays }) => [
      retentionDays === null ? remove(retention, tenantId) : put(retention, { tenantId, retentionDays }),
    ],
  },
};
