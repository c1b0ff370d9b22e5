import { senderFacts, type Mapping, type SearchField, type UnmatchedAct } from "../../src/features/senders/facts.ts";
import { tenantCounter, type Change, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, settingHandlers, type Projection } from "../projection.ts";

/** A sender as the API shows it, except for the wording of its status. */
export type SenderDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** Null of a sender that fans out. */
  readonly destinationUrlId: string | null;
  readonly fanOut: boolean;
  readonly active: boolean;
  readonly mapping: Mapping | null;
  readonly searchFields: readonly SearchField[];
  readonly eventTypePath: string | null;
  readonly unmatched: UnmatchedAct | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** A sender by the SHA-256 (hex) of its ingest token. */
export type SenderTokenHashDocument = { readonly tokenHash: string; readonly senderId: string };

export const senderSortFields = ["id", "name", "createdAt", "updatedAt"] as const;

/** Senders that are not deleted. */
export const senders: Collection<SenderDocument> = {
  name: "senders",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    name: "text",
    destinationUrlId: "id",
    fanOut: "boolean",
    active: "boolean",
    mapping: "json",
    searchFields: "json",
    eventTypePath: "text",
    unmatched: "text",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [...senderSortFields.map((sort) => ["tenantId", sort] as const), ["tenantId", "destinationUrlId"]],
};

/** Current ingest tokens of senders; `tokenHashes` has those of destinations. */
export const senderTokenHashes: Collection<SenderTokenHashDocument> = {
  name: "senderTokenHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", senderId: "id" },
  indexes: [],
};

/** Lists senders, and tells ingest the sender of a token. */
export const sendersProjection: Projection = {
  name: "senders",
  version: 4,
  collections: [senders, senderTokenHashes],
  on: {
    SenderCreated: ({ destinationId: destinationUrlId, searchFields = [], ...data }) =>
      created({ ...data, destinationUrlId, searchFields, fanOut: false, eventTypePath: null, unmatched: null }),
    FanOutSenderCreated: (data) => created({ ...data, destinationUrlId: null, fanOut: true }),
    ...settingHandlers(senderFacts, senders, "senderId", { destinationId: "destinationUrlId" }),
    SenderActivated: ({ senderId, at }) => [set(senders, senderId, { active: true, updatedAt: at })],
    SenderDeactivated: ({ senderId, at }) => [set(senders, senderId, { active: false, updatedAt: at })],
    SenderIngestTokenRegenerated: ({ senderId, ingestTokenHash, previousTokenHash, at }) => [
      set(senders, senderId, { updatedAt: at }),
      remove(senderTokenHashes, previousTokenHash),
      create(senderTokenHashes, { tokenHash: ingestTokenHash, senderId }),
    ],
    SenderDeleted: ({ senderId, tenantId, ingestTokenHash }) => [
      remove(senders, senderId),
      add(tenantCounter(senders, tenantId), -1),
      remove(senderTokenHashes, ingestTokenHash),
    ],
  },
};

type Creation = Omit<SenderDocument, "id" | "active" | "createdAt" | "updatedAt">
  & { readonly senderId: string; readonly ingestTokenHash: string; readonly at: string };

function created({ senderId, ingestTokenHash, at, ...settings }: Creation): readonly Change[] {
  return [
    create(senders, { ...settings, id: senderId, active: true, createdAt: at, updatedAt: at }),
    add(tenantCounter(senders, settings.tenantId), 1),
    create(senderTokenHashes, { tokenHash: ingestTokenHash, senderId }),
  ];
}
