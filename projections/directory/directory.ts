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

/** Ingest tokens in force of destinations, by hash; those of senders are among `senderTokenHashes`. */
export const tokenHashes: Collection<TokenHashDocument> = {
  name: "tokenHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", destinationId: "id" },
  indexes: [],
};

/**
 * Tells ingest what the hash of a key or token leads to. Whether that is still good, the key's or destination's own
 * stream says.
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
