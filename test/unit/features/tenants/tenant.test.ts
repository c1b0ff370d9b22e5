import { expect } from "chai";
import { decide, type ActingUser, type TenantCommand } from "../../../../src/features/tenants/decide.ts";
import { evolve, type TenantEvent, type TenantState } from "../../../../src/features/tenants/facts.ts";
import { roles, type Role } from "../../../../src/kernel/domain/roles.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const tenant = { initial: (): TenantState => undefined, evolve, decide };
const given = specificationsOf(tenant);

const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const ownerId = "0193a1b2-c3d4-7000-8000-000000000002";
const [at, later] = ["2026-01-15T09:30:00.000Z", "2026-01-15T10:00:00.000Z"];
const settings = {
  tenantId,
  name: "Acme",
  nameHash: "h-acme",
  maxTrys: 10,
  circuitBreakerTimer: 300,
  dataKey: "w1.k",
  webhookSecret: "s1.a",
  webhookSecretFingerprint: "f-a",
};
const person = { userId: ownerId, email: "s1.owner", emailHash: "h-owner", passwordHash: "p-owner" };
const created: TenantEvent[] = [
  { type: "TenantCreated", data: { ...settings, at } },
  { type: "UserCreated", data: { ...person, tenantId, role: "Owner", at } },
];
const idOf = (role: Role) => (role === "Owner" ? ownerId : `0193a1b2-c3d4-7000-8000-00000000001${roles.indexOf(role)}`);
const as = (role: Role): ActingUser => ({ userId: idOf(role), role });
/** A tenant with a user of each role. */
const staffed: TenantEvent[] = [
  ...created,
  ...roles.filter((role) => role !== "Owner").map((role): TenantEvent => ({
    type: "UserCreated", data: { ...person, userId: idOf(role), tenantId, role, at },
  })),
];
const change = (by: Role, what: object): TenantCommand => ({
  type: "ChangeTenant",
  by: as(by),
  ...what,
  at: later,
});

const replacement = (gracePeriodSeconds: number, letter = "b") => (
  { webhookSecret: `s1.${letter}`, webhookSecretFingerprint: `f-${letter}`, gracePeriodSeconds });

describe("tenant", () => {
  it("is not changed by facts about purges that older programs wrote into its stream", () => {
    const purgeId = "0193a1b2-c3d4-7000-8000-00000000000c";
    const completed = { type: "PurgeCompleted", data: { purgeId, tenantId, left: [], at: later } };
    expect(folded(tenant, [...created, completed as unknown as TenantEvent])).to.deep.equal(folded(tenant, created));
  });

  it("is created with its Owner at once", () => {
    given([])
      .when({ type: "CreateTenant", tenant: settings, owner: person, at })
      .gives(...created);
    given(created).when({ type: "CreateTenant", tenant: settings, owner: person, at }).refused("conflict", "tenant");
    const state = folded(tenant, created);
    expect(state).to.include({
      id: tenantId,
      name: "Acme",
      maxTrys: 10,
      circuitBreakerTimer: 300,
      createdAt: at,
      updatedAt: at,
    });
    expect(state?.users.get(ownerId)).to.deep.equal({
      id: ownerId,
      email: "s1.owner",
      emailHash: "h-owner",
      passwordHash: "p-owner",
      role: "Owner",
      status: "Active",
      sessionVersion: 0,
      createdAt: at,
      updatedAt: at,
    });
  });

  it("cannot be changed before it is created", () => {
    const commands: TenantCommand[] = [
      change("Owner", { maxTrys: 1 }),
      { type: "RegenerateWebhookSecret", by: as("Owner"), ...replacement(0), at },
      { type: "CreateUser", by: as("Owner"), user: { ...person, role: "Viewer" }, at },
      { type: "ChangeUser", by: as("Owner"), userId: ownerId, at },
      { type: "DeleteUser", by: as("Owner"), userId: ownerId, at },
    ];
    for (const command of commands) given([]).when(command).refused("not-found", "tenant");
  });

  it("changes its name and its delivery policy, together or separately", () => {
    const name = { name: "Acme AG", nameHash: "h-ag" };
    const renamed: TenantEvent = {
      type: "TenantRenamed",
      data: { tenantId, name: "Acme AG", nameHash: "h-ag", at: later },
    };
    const policy = (maxTrys: number, circuitBreakerTimer: number): TenantEvent => ({
      type: "TenantDeliveryPolicyChanged",
      data: { tenantId, maxTrys, circuitBreakerTimer, at: later },
    });
    given(created).when(change("Owner", name)).gives(renamed);
    given(created)
      .when(change("Owner", { maxTrys: 3 }))
      .gives(policy(3, 300));
    given(created)
      .when(change("Owner", { circuitBreakerTimer: 60 }))
      .gives(policy(10, 60));
    given(created)
      .when(change("Owner", { ...name, maxTrys: 3, circuitBreakerTimer: 60 }))
      .gives(renamed, policy(3, 60));
    expect(folded(tenant, [...created, renamed, policy(3, 60)])).to.include({
      name: "Acme AG",
      nameHash: "h-ag",
      maxTrys: 3,
      circuitBreakerTimer: 60,
      createdAt: at,
      updatedAt: later,
    });
  });

  it("stays as it is when nothing differs", () => {
    const same = { name: "Acme", nameHash: "h-acme", maxTrys: 10, circuitBreakerTimer: 300 };
    given(created).when(change("Owner", same)).changesNothing();
    given(created).when(change("Owner", {})).changesNothing();
  });

  it("is changed by Admin or Owner only", () => {
    for (const role of roles) {
      const spec = given(staffed).when(change(role, { maxTrys: 3 }));
      if (role === "Admin" || role === "Owner") spec.givesTypes("TenantDeliveryPolicyChanged");
      else spec.refused("forbidden", "Admin");
    }
  });

  it("cannot be changed by a user who is deleted, inactive or of another role than in the token", () => {
    const admin = { tenantId, userId: idOf("Admin") };
    const policy = change("Admin", { maxTrys: 3 });
    const endings: TenantEvent[] = [
      { type: "UserRoleChanged", data: { ...admin, from: "Admin", role: "Viewer", status: "Active", at } },
      { type: "UserStatusChanged", data: { ...admin, from: "Active", status: "Inactive", role: "Admin", at } },
      { type: "UserDeleted", data: { ...admin, role: "Admin", status: "Active", at } },
    ];
    given(staffed).when(policy).givesTypes("TenantDeliveryPolicyChanged");
    for (const ending of endings) given([...staffed, ending]).when(policy).refused("unauthenticated", "session");
  });

  it("has its webhook secret regenerated by Developer and above", () => {
    const { gracePeriodSeconds: _none, ...fresh } = replacement(0);
    const regenerated: TenantEvent = { type: "WebhookSecretRegenerated", data: { tenantId, ...fresh, at: later } };
    for (const role of roles) {
      const spec = given(staffed).when({ type: "RegenerateWebhookSecret", by: as(role), ...replacement(0), at: later });
      if (role === "Viewer") spec.refused("forbidden", "Developer");
      else spec.gives(regenerated);
    }
    expect(folded(tenant, [...created, regenerated])).to.include({ ...fresh, updatedAt: later });
  });

  describe("with older webhook secrets", () => {
    const times = (minute: number) => `2026-01-15T10:${String(minute).padStart(2, "0")}:00.000Z`;
    const regenerate = (letter: string, gracePeriodSeconds: number, minute: number): TenantCommand => (
      { type: "RegenerateWebhookSecret", by: as("Developer"), ...replacement(gracePeriodSeconds, letter),
        at: times(minute) });
    const after = (...commands: readonly TenantCommand[]) =>
      commands.reduce((past, command) => [...past, ...decide(folded(tenant, past), command)], staffed);
    const endsOf = (past: readonly TenantEvent[]) =>
      folded(tenant, past)?.previousSecrets.map(({ secret, fingerprint, expiresAt }) =>
        [secret, fingerprint, expiresAt]);

    it("keeps each until its own end, the newest first", () => {
      expect(endsOf(after(regenerate("b", 600, 0), regenerate("c", 60, 5), regenerate("d", 60, 7)))).to.deep.equal([
        ["s1.c", "f-c", times(8)], ["s1.a", "f-a", times(10)],
      ]);
    });

    it("ends them all by a replacement without a grace period", () => {
      const past = after(regenerate("b", 600, 0), regenerate("c", 0, 1));
      expect(endsOf(past)).to.deep.equal([]);
      expect(past.at(-1)?.data).to.not.have.property("previous");
    });

    it("signs with a secret once, also where it was an older one or is the current one already", () => {
      const back = after(regenerate("b", 600, 0), regenerate("a", 600, 1));
      expect(endsOf(back)).to.deep.equal([["s1.b", "f-b", times(11)]]);
      expect(endsOf(after(regenerate("a", 600, 0)))).to.deep.equal([]);
    });

    it("has 10 secrets at most", () => {
      const nine = [..."bcdefghij"].map((letter) => regenerate(letter, 600, 0));
      expect(endsOf(after(...nine))).to.have.length(9);
      given(after(...nine)).when(regenerate("k", 600, 1)).refused("rejected", "gracePeriodSeconds");
      expect(endsOf(after(...nine, regenerate("k", 600, 10)))).to.have.length(1);
      expect(endsOf(after(...nine, regenerate("k", 0, 1)))).to.deep.equal([]);
    });

    it("ends them all on request, once", () => {
      const past = after(regenerate("b", 600, 0));
      const expire = (role: Role): TenantCommand => ({ type: "ExpireWebhookSecrets", by: as(role), at: times(1) });
      given(past).when(expire("Viewer")).refused("forbidden", "Developer");
      const expired: TenantEvent = {
        type: "WebhookSecretsExpired", data: { tenantId, fingerprints: ["f-a"], at: times(1) },
      };
      given(past).when(expire("Developer")).gives(expired);
      given([...past, expired]).when(expire("Developer")).gives();
      expect(folded(tenant, [...past, expired])).to.include({ webhookSecret: "s1.b", updatedAt: times(0) });
    });

    it("records the ends that have come, and revives none by a clock that was set back", () => {
      const past = after(regenerate("b", 60, 0), regenerate("c", 600, 0));
      const record = (minute: number): TenantCommand => ({ type: "RecordExpiredSecrets", at: times(minute) });
      given(past).when(record(0)).gives();
      const recorded = [...past, ...decide(folded(tenant, past), record(1))];
      expect(recorded.at(-1)?.data).to.deep.include({ fingerprints: ["f-a"] });
      expect(endsOf(recorded)).to.deep.equal([["s1.b", "f-b", times(10)]]);
      given(recorded).when(record(0)).gives();
    });
  });

  it("refuses a name or an email whose reservation it lost as stale", () => {
    const refused: TenantEvent = { type: "ReservationRefused", data: { reservation: "tenantName-x@0", at: later } };
    const past = [...created, refused];
    const user = { ...person, userId: tenantId, role: "Viewer" as const };
    const claims = (reservation: string): TenantCommand[] => [
      change("Owner", { name: "X", nameHash: "x", reservation }),
      { type: "CreateUser", by: as("Owner"), user, reservation, at: later },
      {
        type: "ChangeUser",
        by: as("Owner"),
        userId: ownerId,
        email: { sealed: "s1.x", hash: "x" },
        reservation,
        at: later,
      },
    ];
    for (const command of claims("tenantName-x@0")) {
      const field = command.type === "ChangeTenant" ? "name" : "email";
      given(past).when(command).refused("conflict", `${field}: was given to another`);
    }
    for (const command of claims("tenantName-x@2")) expect(decide(folded(tenant, past), command)).to.have.length(1);
    expect(folded(tenant, [refused])).to.equal(undefined);
  });
});
