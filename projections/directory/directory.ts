import { create, remove, type Collection, type Projection } from "../projection.ts";

/** What an API key's SHA-256 (hex) belongs to. */
export type KeyHashDocument = { readonly keyHash: string; readonly keyId: string };

/** What an ingest token's SHA-256 (hex) belongs to. */
export type TokenHashDocument = { readonly tokenHash: string; readonly destinationId: string };

export const keyHashes: Collection<KeyHashDocument> = {
  name: "keyHashes",
  key: "keyHash",
  fields: { keyHash: "text", keyId: "id" },
  indexes: [],
};

export const tokenHashes: Collection<TokenHashDocument> = {
  name: "tokenHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", destinationId: "id" },
  indexes: [],
};

export const directoryProjection: Projection = {
  name: "directory",
  version: 1,
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
