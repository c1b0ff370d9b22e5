import { examples } from "../../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { roles } from "../../../kernel/domain/roles.ts";
import { oneOf, sealed, text, time, uuid } from "../../../kernel/domain/schema.ts";

const told = ["inviteId", "tenantId", "at"] as const;

/** Facts of an `invite-<id>` stream. Of the token only the SHA-256 is stored; the email is sealed. */
export const inviteFacts = {
  InviteCreated: fact({
    data: {
      inviteId: uuid("The user who comes of it will have this id."),
      tenantId: uuid(),
      email: sealed("Sealed under the key of the person to come."),
      role: oneOf(roles), tokenHash: text("SHA-256 of the token."), expiresAt: time(), at,
    },
    meaning: "The invite was created.",
    words: "invited a person as {role}, until {expiresAt}",
    shown: [...told, "role", "expiresAt"],
    audit: "invite",
    creates: true,
    sets: { status: "Pending" },
    example: {
      inviteId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e05", tenantId: examples.tenantId, role: "Developer",
      expiresAt: "2026-02-07T23:59:59.000Z", at: examples.at,
    },
  }),
  // The invite is used up: only the writer of this goes on to create the user.
  InviteAccepted: fact({
    data: { inviteId: uuid(), tenantId: uuid(), at },
    meaning: "The invite was used.",
    words: "accepted the invite",
    shown: told,
    audit: "invite",
    sets: { status: "Accepted" },
  }),
  InviteRevoked: fact({
    data: { inviteId: uuid(), tenantId: uuid(), tokenHash: text("SHA-256 of the token that no longer works."), at },
    meaning: "The invite was revoked.",
    words: "revoked the invite",
    shown: told,
    audit: "invite",
    sets: { status: "Revoked" },
  }),
  InviteForgotten: fact({
    data: { inviteId: uuid(), tenantId: uuid(), tokenHash: text("SHA-256 of the token that no longer works."), at },
    meaning: "The invite can no longer be used, nor its email read: its user was deleted.",
    words: "destroyed the key to the email of an invite",
    shown: told,
    audit: "invite",
  }),
};
export type InviteEvent = EventsOf<typeof inviteFacts>;
