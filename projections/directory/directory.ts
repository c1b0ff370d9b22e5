import { create, remove, type Collection, type Projection } from "../projection.ts";

/** What an API key's SHA-256 (hex) belongs to. */
export type KeyHashDocument = { readonly keyHash: string; readonly keyId: string };

/** What an ingest token's SHA-256 (hex) belongs to. */
export type TokenHashDocument = { readonly tokenHash: string; readonly destinationId: string };

/** API keys that are not revoked, by hash: ingest asks for one that it does not remember. */
export const keyHashes: Collection<KeyHashDocument> = {
  name: "keyHashes",
  key: "keyHash",
  fields: { keyHash: "text", keyId: "id" },
  indexes: [],
};

/** Current ingest tokens of destinations, by hash; those of senders are in `senderTokenHashes`. */
export const tokenHashes: Collection<TokenHashDocument> = {
  name: "tokenHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", destinationId: "id" },
  indexes: [],
};

/**
 * Tells ingest whose key or token a hash belongs to. Whether that is still valid is for the key's or destination's own
 * stream to say.
 */
export const directoryProjection: Projection = {
  name: "directory",
  version: 2,
  collections: [keyHashes, tokenHashes],
  on: {
    ApiKeyIssued: ({ keyHash, keyId }) => [create(keyHashes, { keyHash, keyId })],
    ApiKeyRevoked: ({ keyHash }) => [remove(keyHashes, keyHash)],
    DestinationRegistered: ({ ingestTokenHash, destinationId }) => [
      create(tokenHashes, { tokenHash: ingestTokenHash, destinationId }),
    ],
    IngestTokenRegenerated: ({ ingestTokenHash, previousTokenHash, destinationId }) => [
      remove(tokenHashes, previousTokenHash),
      create(tokenHashes, { tokenHash: ingestTokenHash, destinationId }),
    ],
    DestinationDeleted: ({ ingestTokenHash }) => [remove(tokenHashes, ingestTokenHash)],
  },
};
