import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, remove, type Projection } from "../projection.ts";

/** An API key, by its SHA-256 (hex). */
export type KeyHashDocument = { readonly keyHash: string; readonly keyId: string };

/** The destination of an ingest token, by the token's SHA-256 (hex). */
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
 * Tells ingest the API key or destination that a hash belongs to. The stream of the API key or destination tells
 * whether the key or token is still valid.
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
