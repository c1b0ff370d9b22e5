import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { put, type Projection } from "../projection.ts";

/** An erased tenant of which documents may be left. */
export type ErasureDocument = { readonly tenantId: string };

/** Erased tenants, by id, until nothing of them is left in the read models: few. */
export const erasures: Collection<ErasureDocument> = {
  name: "erasures",
  key: "tenantId",
  fields: { tenantId: "id" },
  indexes: [],
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
