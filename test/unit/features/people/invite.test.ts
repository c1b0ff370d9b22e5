import { expect } from "chai";
import { decide, evolve, inviteValidMs, type InviteState } from "../../../../src/features/people/invites/decide.ts";
import type { InviteEvent } from "../../../../src/features/people/invites/facts.ts";
import { roles, type Role } from "../../../../src/kernel/domain/roles.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const invite = { initial: (): InviteState => undefined, evolve, decide };
const given = specificationsOf(invite);

const start = Date.parse("2026-01-15T09:30:00.000Z");
const at = timestamp(start);
const expiresAt = timestamp(start + inviteValidMs);
const ids = { inviteId: "0193a1b2-c3d4-7000-8000-00000000000b", tenantId: "0193a1b2-c3d4-7000-8000-000000000001" };
const asked = (role: Role) => ({ ...ids, email: "s1.sealed", role, tokenHash: "hash", expiresAt });
const created: InviteEvent = { type: "InviteCreated", data: { ...asked("Developer"), at } };
const revoked: InviteEvent = { type: "InviteRevoked", data: { ...ids, tokenHash: "hash", at } };
const accepted: InviteEvent = { type: "InviteAccepted", data: { ...ids, at } };
const by = (role: Role) => ({ role });
const accept = (when: string, abandoned = false) => ({ type: "AcceptInvite", abandoned, at: when }) as const;

const revoke = (role: Role, when = at, abandoned = false) =>
  ({ type: "RevokeInvite", by: by(role), abandoned, at: when }) as const;

describe("invite", () => {
  it("is created by an Admin or Owner, for a role not above its own", () => {
    const may: Record<Role, readonly Role[]> = {
      Viewer: [],
      Developer: [],
      Admin: ["Viewer", "Developer", "Admin"],
      Owner: roles,
    };
    for (const inviter of roles) {
      for (const role of roles) {
        const attempt = given([]).when({ type: "CreateInvite", by: by(inviter), invite: asked(role), at });
        if (may[inviter].includes(role)) attempt.gives({ type: "InviteCreated", data: { ...asked(role), at } });
        else attempt.refused("forbidden", may[inviter].length > 0 ? "role" : "Admin");
      }
    }
    given([created])
      .when({ type: "CreateInvite", by: by("Owner"), invite: asked("Viewer"), at })
      .refused("conflict", "invite");
  });

  it("is revoked by an Admin or Owner, also after its end; again changes nothing; once used it cannot be", () => {
    for (const role of ["Admin", "Owner"] as const) {
      given([created]).when(revoke(role)).gives(revoked);
      const late = timestamp(start + inviteValidMs + 1);
      given([created]).when(revoke(role, late)).givesTypes("InviteRevoked");
    }
    for (const role of ["Viewer", "Developer"] as const) {
      given([created]).when(revoke(role)).refused("forbidden", "Admin");
    }
    given([created, revoked]).when(revoke("Admin")).changesNothing();
    given([created, accepted]).when(revoke("Admin")).refused("conflict", "used");
    given([created, accepted]).when(revoke("Admin", at, true)).gives(revoked);
    given([]).when(revoke("Admin")).refused("not-found", "invite");
  });

  it("is accepted once, until it expires after 7 days", () => {
    expect(inviteValidMs).to.equal(7 * 24 * 60 * 60 * 1000);
    given([created]).when(accept(at)).gives(accepted);
    given([created]).when(accept(timestamp(start + inviteValidMs - 1))).givesTypes("InviteAccepted");
    given([created]).when(accept(expiresAt)).refused("rejected", "expired");
    given([created, accepted]).when(accept(at)).refused("conflict", "used");
    given([created, revoked]).when(accept(at)).refused("not-found", "invite");
    given([]).when(accept(at)).refused("not-found", "invite");
  });

  it("is accepted again if the first acceptance was abandoned, until it expires", () => {
    given([created, accepted]).when(accept(at, true)).gives(accepted);
    given([created, accepted]).when(accept(expiresAt, true)).refused("rejected", "expired");
    given([created, revoked]).when(accept(at, true)).refused("not-found", "invite");
  });

  it("keeps its data once it was accepted", () => {
    expect(folded(invite, [created, accepted])).to.deep.equal({
      id: ids.inviteId,
      tenantId: ids.tenantId,
      email: "s1.sealed",
      role: "Developer",
      tokenHash: "hash",
      status: "Accepted",
      createdAt: at,
      expiresAt,
      acceptedAt: at,
    });
  });
});
