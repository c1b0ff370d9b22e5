import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, raise, remove, type Projection } from "../projection.ts";

/** An API key as the API lists it. */
export type ApiKeyDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** `rk_`; this and `last4` are all of the key that is ever shown again. */
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
};

/** Fields that lists of API keys can be sorted by. */
export const apiKeySortFields = ["id", "name", "createdAt", "expiresAt", "lastUsedAt"] as const;

/** Keys that are not revoked, by id; an index for each field that the list can be sorted by. */
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

/** Lists API keys, each with its latest use, known from accepted events or from the key's own stream. */
export const apiKeysProjection: Projection = {
  name: "apiKeys",
  version: 3,
  collections: [apiKeys],
  on: {
    ApiKeyIssued: ({ keyId, tenantId, name, prefix, last4, expiresAt, at }) => [
      create(apiKeys, { id: keyId, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null }),
      add(tenantCounter(apiKeys, tenantId), 1),
    ],
    ApiKeyRevoked: ({ keyId, tenantId }) => [remove(apiKeys, keyId), add(tenantCounter(apiKeys, tenantId), -1)],
    // Events are purged, and facts about one key come from several streams: only the latest use counts.
    EventAccepted: ({ apiKeyId, sourceEventId, test, at }) =>
      // A replay's event names the key of its source, which nobody used again; a test event names none.
      (sourceEventId === undefined && !test ? [raise(apiKeys, apiKeyId, { lastUsedAt: at })] : []),
    ApiKeyUsed: ({ keyId, usedAt }) => [raise(apiKeys, keyId, { lastUsedAt: usedAt })],
  },
};
