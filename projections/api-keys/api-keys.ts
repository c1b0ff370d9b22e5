import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, raise, remove, set, type Projection } from "../projection.ts";

/** An API key as the API lists it. */
export type ApiKeyDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** `rk_`; only this and `last4` of the key are ever shown again. */
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
};

export const apiKeySortFields = ["id", "name", "createdAt", "expiresAt", "lastUsedAt"] as const;

/** Keys that are not revoked. */
export const apiKeys: Collection<ApiKeyDocument> = {
  name: "apiKeys",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    name: "text",
    prefix: "text",
    last4: "text",
    createdAt: "time",
    expiresAt: "time",
    lastUsedAt: "time",
  },
  indexes: apiKeySortFields.map((sort) => ["tenantId" as const, sort]),
};

/** Lists API keys with their latest use. */
export const apiKeysProjection: Projection = {
  name: "apiKeys",
  version: 4,
  collections: [apiKeys],
  on: {
    ApiKeyIssued: ({ keyId, tenantId, name, prefix, last4, expiresAt, at }) => [
      create(apiKeys, { id: keyId, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null }),
      add(tenantCounter(apiKeys, tenantId), 1),
    ],
    ApiKeyRotated: ({ keyId, expiresAt }) => [set(apiKeys, keyId, { expiresAt })],
    ApiKeyRevoked: ({ keyId, tenantId }) => [remove(apiKeys, keyId), add(tenantCounter(apiKeys, tenantId), -1)],
    EventAccepted: ({ apiKeyId, sourceEventId, test, at }) =>
      // A replay's event names the key of its source; a test event names none.
      (sourceEventId === undefined && !test ? [raise(apiKeys, apiKeyId, { lastUsedAt: at })] : []),
    ApiKeyUsed: ({ keyId, usedAt }) => [raise(apiKeys, keyId, { lastUsedAt: usedAt })],
  },
};
