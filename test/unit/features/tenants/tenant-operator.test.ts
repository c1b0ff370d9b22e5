import { expect } from "chai";
import { decide, type TenantCommand } from "../../../../src/features/tenants/decide.ts";
import { evolve, type TenantState } from "../../../../src/features/tenants/facts.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";

const at = "2026-01-15T09:30:00.000Z";
const owner = { userId: "owner", email: "sealed", emailHash: "hash", passwordHash: "old" };
const apply = (state: TenantState, command: TenantCommand): TenantState =>
  decide(state, command).reduce<TenantState>((folded, fact) => evolve(folded, fact), state);
const refusal = (state: TenantState, command: TenantCommand) => {
  try {
    return decide(state, command);
  } catch (error) {
    return error instanceof Refusal ? error.kind : error;
  }
};

describe("a tenant under an operator's commands", () => {
  let tenant: TenantState;
  beforeEach(() => {
    tenant = apply(undefined, {
      type: "CreateTenant",
      tenant: {
        tenantId: "tenant", name: "T", nameHash: "n", maxTrys: 1, circuitBreakerTimer: 1, dataKey: "wrapped",
        webhookSecret: "sealed", webhookSecretFingerprint: "f",
      },
      owner,
      at,
    });
    tenant = apply(tenant, {
      type: "RegisterUser", user: { ...owner, userId: "viewer", emailHash: "other", role: "Viewer" }, at,
    });
  });

  it("no longer exists once it was erased, and can be erased once", () => {
    const erased = apply(tenant, { type: "EraseTenant", at });
    expect(erased).to.equal(undefined);
    expect(refusal(erased, { type: "EraseTenant", at })).to.equal("not-found");
  });

  it("deactivates all users before it is erased, a few at a time, and then takes no users and no changes", () => {
    const command = { type: "DeactivateUsers", most: 1, at } as const;
    const by = { userId: "owner", role: "Owner" } as const;
    const status = (state: TenantState) => [...(state?.users.values() ?? [])].map((user) => user.status);
    const one = apply(tenant, command);
    expect(status(one)).to.deep.equal(["Inactive", "Active"]);
    const all = apply(one, command);
    expect(status(all)).to.deep.equal(["Inactive", "Inactive"]);
    expect([...(all?.users.values() ?? [])].map(({ sessionVersion }) => sessionVersion)).to.deep.equal([1, 1]);
    expect(decide(all, command)).to.deep.equal([]);
    const late = { ...owner, userId: "late", role: "Owner" } as const;
    expect(refusal(all, { type: "RegisterUser", user: late, at })).to.equal("conflict");
    expect(refusal(all, { type: "CreateUser", by: { role: "Admin" }, user: late, at })).to.equal("conflict");
    expect(refusal(all, { type: "ChangeUser", by: { role: "Admin" }, userId: "viewer", status: "Active", at }))
      .to.equal("conflict");
    expect(refusal(all, { type: "ChangeTenant", by, maxTrys: 3, at })).to.equal("unauthenticated");
    expect(apply(all, { type: "EraseTenant", at })).to.equal(undefined);
  });

  it("resets an Owner's password, which ends the Owner's sessions, and no other user's", () => {
    const command = { type: "ResetOwnerPassword", passwordHash: "new", at } as const;
    const changed = apply(tenant, { ...command, userId: "owner" })?.users.get("owner");
    expect(changed).to.include({ passwordHash: "new", sessionVersion: 1 });
    expect(refusal(tenant, { ...command, userId: "viewer" })).to.equal("rejected");
    expect(refusal(tenant, { ...command, userId: "nobody" })).to.equal("not-found");
  });

  it("accepts a re-wrapped data key only in place of its current one", () => {
    const rewrapped = apply(tenant, { type: "RewrapDataKey", from: "wrapped", dataKey: "again", at });
    expect(rewrapped).to.include({ dataKey: "again", updatedAt: tenant?.updatedAt });
    expect(decide(rewrapped, { type: "RewrapDataKey", from: "wrapped", dataKey: "late", at })).to.deep.equal([]);
  });

  it("forgets deleted users only", () => {
    const command = { type: "ForgetUser", userId: "viewer", at } as const;
    expect(refusal(tenant, command)).to.equal("conflict");
    const by = { userId: "owner", role: "Owner" } as const;
    const without = apply(tenant, { type: "DeleteUser", by, userId: "viewer", at });
    expect(decide(without, command).map(({ type }) => type)).to.deep.equal(["UserForgotten"]);
    expect([...(apply(without, command)?.users.keys() ?? [])]).to.deep.equal(["owner"]);
  });
});
