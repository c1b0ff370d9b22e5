import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, set, put, type Projection } from "../projection.ts";

/** A tenant's name, for operators. */
export type TenantDocument = {
  readonly id: string;
  readonly name: string;
};

/** An erased tenant whose documents may remain. */
export type ErasureDocument = { readonly tenantId: string };

/** Tenants by id, for the operator's commands. */
export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: { id: "id", name: "text" },
  indexes: [],
};

/** Erased tenants whose documents may remain: few. */
export const erasures: Collection<ErasureDocument> = {
  name: "erasures",
  key: "tenantId",
  fields: { tenantId: "id" },
  indexes: [],
};

export const tenantsProjection: Projection = {
  name: "tenants",
  version: 3,
  collections: [tenants],
  on: {
    TenantCreated: ({ tenantId, name }) => [create(tenants, { id: tenantId, name })],
    TenantRenamed: ({ tenantId, name }) => [set(tenants, tenantId, { name })],
  },
};

/** Records erasures; the projection runner removes the documents. */
export const erasuresProjection: Projection = {
  name: "erasures",
  version: 1,
  collections: [erasures],
  on: {
    TenantErased: ({ tenantId }) => [put(erasures, { tenantId })],
  },
};
