import { set, create, type Collection, type Projection } from "../projection.ts";

/** A tenant, and after how many days its finished events are purged; null: never. */
export type TenantDocument = {
  readonly id: string;
  readonly retentionDays: number | null;
};

/** Tenants by id. The index finds those that keep events for so many days only. */
export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: { id: "id", retentionDays: "number" },
  indexes: [["retentionDays"]],
};

/** How long tenants keep their events; all else of a tenant is read from its own stream. */
export const tenantsProjection: Projection = {
  name: "tenants",
  version: 1,
  collections: [tenants],
  on: {
    TenantCreated: ({ tenantId }) => [create(tenants, { id: tenantId, retentionDays: null })],
    TenantRetentionChanged: ({ tenantId, retentionDays }) => [set(tenants, tenantId, { retentionDays })],
  },
};
