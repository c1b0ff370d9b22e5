import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, set, type Projection } from "../projection.ts";

/** A tenant's name, so that operators do not mistake one for another. */
export type TenantDocument = {
  readonly id: string;
  readonly name: string;
};

/** Tenants by id; asked by the operator's commands. */
export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: { id: "id", name: "text" },
  indexes: [],
};

/** Names of tenants; everything else about a tenant is read from its own stream. */
export const tenantsProjection: Projection = {
  name: "tenants",
  version: 3,
  collections: [tenants],
  on: {
    TenantCreated: ({ tenantId, name }) => [create(tenants, { id: tenantId, name })],
    TenantRenamed: ({ tenantId, name }) => [set(tenants, tenantId, { name })],
  },
};
