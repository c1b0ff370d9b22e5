import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, remove, type Projection } from "../projection.ts";

/** A deleted user whose addresses may still be readable. */
export type ForgettingDocument = {
  readonly userId: string;
  readonly tenantId: string;
  readonly deletedAt: string;
};

/** Users deleted but not yet forgotten, by user id: few, and gone once every key of theirs is deleted. */
export const forgetting: Collection<ForgettingDocument> = {
  name: "forgetting",
  key: "userId",
  fields: { userId: "id", tenantId: "id", deletedAt: "time" },
  indexes: [],
};

/** Remembers the unfinished work of a deletion, so that another process finishes it if the first one died. */
export const forgettingProjection: Projection = {
  name: "forgetting",
  version: 1,
  collections: [forgetting],
  on: {
    UserDeleted: ({ userId, tenantId, at }) => [create(forgetting, { userId, tenantId, deletedAt: at })],
    UserForgotten: ({ userId }) => [remove(forgetting, userId)],
  },
};
