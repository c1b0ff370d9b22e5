import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, remove, type Projection } from "../projection.ts";

/** An API key by its SHA-256 (hex). */
export type KeyHashDocument = { readonly keyHash: string; readonly keyId: string };

/** A destination by the SHA-256 (hex) of its ingest token. */
export type TokenHashDocument = { readonly tokenHash: string; readonly destinationId: string };

/** API keys that are not revoked. */
export const keyHashes: Collection<KeyHashDocument> = {
  name: "keyHashes",
  key: "keyHash",
  fields: { keyHash: "text", keyId: "id" },
  indexes: [],
};

/** Current ingest tokens of destinations; `senderTokenHashes` has those of senders. */
export const tokenHashes: Collection<TokenHashDocument> = {
  name: "tokenHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", destinationId: "id" },
  indexes: [],
};

/** Maps hashes to API keys and destinations, whose streams tell if the key or token is valid. */
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
