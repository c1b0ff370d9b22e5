import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, set, type Projection, put } from "../projection.ts";

/** A tenant's name, so that operators do not mistake one for another. */
export type TenantDocument = {
  readonly id: string;
  readonly name: string;
};

/** An erased tenant of which documents may be left. */
export type ErasureDocument = { readonly tenantId: string };

/** Tenants by id; asked by the operator's commands. */
export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: { id: "id", name: "text" },
  indexes: [],
};

/** Erased tenants, by id, until nothing of them is left in the read models: few. */
export const erasures: Collection<ErasureDocument> = {
  name: "erasures",
  key: "tenantId",
  fields: { tenantId: "id" },
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

/** Remembers that a tenant was erased; the projection runner then removes what is left of it. */
export const erasuresProjection: Projection = {
  name: "erasures",
  version: 1,
  collections: [erasures],
  on: {
    TenantErased: ({ tenantId }) => [put(erasures, { tenantId })],
  },
};
