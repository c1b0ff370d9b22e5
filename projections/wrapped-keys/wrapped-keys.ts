import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { masterKeyIdOf } from "../../src/kernel/sealing/facts.ts";
import { create, put, set, type Projection } from "../projection.ts";

/** The master key that a key is wrapped under; the wrapped key itself stays in the log. */
export type WrappedKeyDocument = {
  /** The tenant's id, or `platform/…`. */
  readonly name: string;
  readonly tenantId: string | null;
  readonly masterKeyId: string;
  /** With the platform's token key: ids of the master keys that may still be needed, where the log names them. */
  readonly masterKeys: readonly string[] | null;
};

/** One document for each data key of a tenant and each key of the platform. */
export const wrappedKeys: Collection<WrappedKeyDocument> = {
  name: "wrappedKeys",
  key: "name",
  fields: { name: "text", tenantId: "id", masterKeyId: "text", masterKeys: "json" },
  indexes: [["masterKeyId"]],
};

/** The document that says which master keys may still be needed. */
export const tokenKeyName = "platform/tokenKey";

function ofPlatform(name: string, wrapped: string, masterKeys: readonly string[] | null): Change {
  return put(wrappedKeys, { name, tenantId: null, masterKeyId: masterKeyIdOf(wrapped), masterKeys });
}

/** Tracks the master key of each wrapped key, for re-wrapping and the metrics. */
export const wrappedKeysProjection: Projection = {
  name: "wrappedKeys",
  version: 1,
  collections: [wrappedKeys],
  on: {
    PlatformKeysCreated: ({ nameHashKey, tokenKey }) => [
      ofPlatform("platform/nameHashKey", nameHashKey, null),
      ofPlatform(tokenKeyName, tokenKey, null),
    ],
    PlatformKeysRewrapped: ({ nameHashKey, tokenKey, masterKeys }) => [
      ofPlatform("platform/nameHashKey", nameHashKey, null),
      ofPlatform(tokenKeyName, tokenKey, masterKeys),
    ],
    TenantCreated: ({ tenantId, dataKey }) => [
      create(wrappedKeys, { name: tenantId, tenantId, masterKeyId: masterKeyIdOf(dataKey), masterKeys: null }),
    ],
    TenantDataKeyRewrapped: ({ tenantId, dataKey }) => [
      set(wrappedKeys, tenantId, { masterKeyId: masterKeyIdOf(dataKey) }),
    ],
  },
};
