import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { put, remove, type Projection } from "../projection.ts";

/** The public key of a destination that has one. */
export type SigningKeyDocument = {
  /** The destination's id. */
  readonly id: string;
  readonly tenantId: string;
  readonly publicKey: string;
};

/** Public keys of destinations, by tenant. */
export const signingKeys: Collection<SigningKeyDocument> = {
  name: "signingKeys",
  key: "id",
  fields: { id: "id", tenantId: "id", publicKey: "text" },
  indexes: [["tenantId", "id"]],
};

/** Lists the public keys of destinations. */
export const signingKeysProjection: Projection = {
  name: "signingKeys",
  version: 1,
  collections: [signingKeys],
  on: {
    DestinationSigningKeyReplaced: ({ destinationId: id, tenantId, publicKey }) => [
      put(signingKeys, { id, tenantId, publicKey }),
    ],
    DestinationSigningKeyRemoved: ({ destinationId }) => [remove(signingKeys, destinationId)],
    DestinationDeleted: ({ destinationId }) => [remove(signingKeys, destinationId)],
  },
};
