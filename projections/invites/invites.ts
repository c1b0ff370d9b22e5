import type { InviteStatus } from "../../src/features/people/invites/decide.ts";
import type { Role } from "../../src/kernel/domain/roles.ts";
import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, set, type Projection } from "../projection.ts";

/** An invite; the email is null once its person is deleted. */
export type InviteDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string | null;
  readonly role: Role;
  readonly status: InviteStatus;
  readonly createdAt: string;
  readonly expiresAt: string;
};

/** An invite by the SHA-256 (hex) of its token. */
export type InviteHashDocument = { readonly tokenHash: string; readonly inviteId: string; readonly tenantId: string };

export const inviteSortFields = ["id", "email", "role", "createdAt", "expiresAt"] as const;

/** Invites of every status. */
export const invites: Collection<InviteDocument> = {
  name: "invites",
  key: "id",
  personal: true,
  fields: {
    id: "id",
    tenantId: "id",
    email: "text",
    role: "text",
    status: "text",
    createdAt: "time",
    expiresAt: "time",
  },
  indexes: inviteSortFields.map((sort) => ["tenantId" as const, sort]),
};

/** Invites of every status by hash; an invite's stream tells if it is usable. */
export const inviteHashes: Collection<InviteHashDocument> = {
  name: "inviteHashes",
  key: "tokenHash",
  fields: { tokenHash: "text", inviteId: "id", tenantId: "id" },
  indexes: [["tenantId"]],
};

/** Lists invites; an address disappears with its person. */
export const invitesProjection: Projection = {
  name: "invites",
  version: 2,
  collections: [invites, inviteHashes],
  on: {
    InviteCreated: ({ inviteId: id, tenantId, email, role, tokenHash, expiresAt, at }) => [
      create(invites, { id, tenantId, email, role, status: "Pending", createdAt: at, expiresAt }),
      create(inviteHashes, { tokenHash, inviteId: id, tenantId }),
      add(tenantCounter(invites, tenantId), 1),
    ],
    InviteRevoked: ({ inviteId }) => [set(invites, inviteId, { status: "Revoked" })],
    InviteAccepted: ({ inviteId }) => [set(invites, inviteId, { status: "Accepted" })],
    InviteForgotten: ({ inviteId }) => [set(invites, inviteId, { email: null, status: "Revoked" })],
    // A user who registered by an invite has its id.
    UserDeleted: ({ userId }) => [set(invites, userId, { email: null })],
  },
};
