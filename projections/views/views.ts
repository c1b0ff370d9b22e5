import type { View } from "../../src/features/views/facts.ts";
import type { Collection, Selection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, type Projection } from "../projection.ts";

/** A view; `seenBy` is its owner, or the tenant that it is shared with. */
export type ViewDocument = Omit<View, "deleted"> & { readonly seenBy: string };

/** The sort fields of the list. */
export const viewSortFields = ["id", "name", "createdAt"] as const;

/** Views that are not deleted. */
export const views: Collection<ViewDocument> = {
  name: "views",
  key: "id",
  fields: {
    id: "id", tenantId: "id", name: "text", page: "text", query: "text", shared: "boolean", ownerUserId: "id",
    createdAt: "time", seenBy: "id",
  },
  indexes: [["ownerUserId"], ...viewSortFields.map((sort) => ["tenantId" as const, "seenBy" as const, sort])],
};

/** Selects the views that a person of a tenant sees. */
export function viewsSeenBy(tenantId: string, userId: string): Pick<Selection, "where" | "anyOf"> {
  return { where: { tenantId }, anyOf: { field: "seenBy", values: [userId, tenantId] } };
}

/** The counter of a person's views. */
export function ownerCounter(userId: string): string {
  return `${views.name}/${userId}`;
}

function seenBy({ shared, tenantId, ownerUserId }: Pick<View, "shared" | "tenantId" | "ownerUserId">): string {
  return shared ? tenantId : ownerUserId;
}

/** Lists and counts views. */
export const viewsProjection: Projection = {
  name: "views",
  version: 1,
  collections: [views],
  on: {
    ViewSaved: ({ viewId: id, at: createdAt, ...view }) => [
      create(views, { ...view, id, createdAt, seenBy: seenBy(view) }),
      add(ownerCounter(view.ownerUserId), 1),
    ],
    ViewChanged: ({ viewId, name, page, query, shared, ...ids }) => [
      set(views, viewId, { name, page, query, shared, seenBy: seenBy({ ...ids, shared }) }),
    ],
    ViewDeleted: ({ viewId, ownerUserId }) => [remove(views, viewId), add(ownerCounter(ownerUserId), -1)],
  },
};
