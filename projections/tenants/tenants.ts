import { set, create, type Collection, type Projection } from "../projection.ts";

/** A tenant as the API shows it. */
export type TenantDocument = {
  readonly id: string;
  readonly name: string;
  readonly maxTrys: number;
  readonly circuitBreakerTimer: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: {
    id: "id",
    name: "text",
    maxTrys: "number",
    circuitBreakerTimer: "number",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [],
};

export const tenantsProjection: Projection = {
  name: "tenants",
  version: 1,
  collections: [tenants],
  on: {
    TenantCreated: ({ tenantId, name, maxTrys, circuitBreakerTimer, at }) => [
      create(tenants, { id: tenantId, name, maxTrys, circuitBreakerTimer, createdAt: at, updatedAt: at }),
    ],
    TenantRenamed: ({ tenantId, name, at }) => [set(tenants, tenantId, { name, updatedAt: at })],
    TenantDeliveryPolicyChanged: ({ tenantId, maxTrys, circuitBreakerTimer, at }) => [
      set(tenants, tenantId, { maxTrys, circuitBreakerTimer, updatedAt: at }),
    ],
    WebhookSecretRegenerated: ({ tenantId, at }) => [set(tenants, tenantId, { updatedAt: at })],
  },
};
