import { set, create, type Collection, type Projection } from "../projection.ts";

/** A tenant as the API shows it. */
export type TenantDocument = {
  readonly id: string;
  readonly name: string;
  readonly maxTrys: number;
  /** Seconds. */
  readonly circuitBreakerTimer: number;
  readonly retentionDays: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Tenants by id. The index finds those that keep events for so many days only. */
export const tenants: Collection<TenantDocument> = {
  name: "tenants",
  key: "id",
  fields: {
    id: "id",
    name: "text",
    maxTrys: "number",
    circuitBreakerTimer: "number",
    retentionDays: "number",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [["retentionDays"]],
};

/** Tenants with the settings they can change; secrets and keys are in the log alone. */
export const tenantsProjection: Projection = {
  name: "tenants",
  version: 1,
  collections: [tenants],
  on: {
    TenantCreated: ({ tenantId, name, maxTrys, circuitBreakerTimer, at }) => [
      create(tenants, {
        id: tenantId,
        name,
        maxTrys,
        circuitBreakerTimer,
        retentionDays: null,
        createdAt: at,
        updatedAt: at,
      }),
    ],
    TenantRenamed: ({ tenantId, name, at }) => [set(tenants, tenantId, { name, updatedAt: at })],
    TenantDeliveryPolicyChanged: ({ tenantId, maxTrys, circuitBreakerTimer, at }) => [
      set(tenants, tenantId, { maxTrys, circuitBreakerTimer, updatedAt: at }),
    ],
    TenantRetentionChanged: ({ tenantId, retentionDays, at }) => [
      set(tenants, tenantId, { retentionDays, updatedAt: at }),
    ],
    WebhookSecretRegenerated: ({ tenantId, at }) => [set(tenants, tenantId, { updatedAt: at })],
  },
};
