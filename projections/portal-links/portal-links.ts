import type { PortalLinkSettings } from "../../src/features/portal/facts.ts";
import type { Collection } from "../../src/kernel/ports/read-models.ts";
import { create, remove, set, type Projection } from "../projection.ts";

/** A portal link, with its session once it has begun. */
export type PortalLinkDocument = Omit<PortalLinkSettings, "destinationIds"> & {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlIds: readonly string[] | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Null until the session begins, as the field below. */
  readonly begunAt: string | null;
  readonly embedded: boolean | null;
  /** The end of the session; before it begins, that of the code. */
  readonly endsAt: string;
};

/** The sort fields of the list. */
export const portalLinkSortFields = ["id", "createdAt"] as const;

/** Portal links that are not deleted. */
export const portalLinks: Collection<PortalLinkDocument> = {
  name: "portalLinks",
  key: "id",
  fields: {
    id: "id", tenantId: "id", ownerId: "text", destinationUrlIds: "json", may: "json", label: "text",
    sessionSeconds: "number", returnUrl: "text", createdAt: "time", expiresAt: "time", begunAt: "time",
    embedded: "boolean", endsAt: "time",
  },
  indexes: [["tenantId", "endsAt"]],
};

/** Lists portal links. */
export const portalLinksProjection: Projection = {
  name: "portalLinks",
  version: 1,
  collections: [portalLinks],
  on: {
    PortalLinkCreated: ({ portalLinkId: id, at: createdAt, codeHash: _, destinationIds, expiresAt, ...link }) => [
      create(portalLinks, {
        ...link, id, destinationUrlIds: destinationIds, createdAt, expiresAt, begunAt: null, embedded: null,
        endsAt: expiresAt,
      }),
    ],
    PortalSessionBegun: ({ portalLinkId, at: begunAt, embedded, expiresAt: endsAt }) => [
      set(portalLinks, portalLinkId, { begunAt, embedded, endsAt }),
    ],
    PortalSessionEnded: ({ portalLinkId, at: endsAt }) => [set(portalLinks, portalLinkId, { endsAt })],
    PortalLinkDeleted: ({ portalLinkId }) => [remove(portalLinks, portalLinkId)],
  },
};
