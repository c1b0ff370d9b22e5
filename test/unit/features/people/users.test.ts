import { expect } from "chai";
import { decide, type TenantCommand } from "../../../../src/features/tenants/decide.ts";
import { evolve, type TenantEvent, type TenantState, type UserStatus } from "../../../../src/features/tenants/facts.ts";
import { roles, type Role } from "../../../../src/kernel/domain/roles.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const tenant = { initial: (): TenantState => undefined, evolve, decide };
const given = specificationsOf(tenant);

const id = (last: string) => `0193a1b2-c3d4-7000-8000-00000000${last.padStart(4, "0")}`;
const tenantId = id("1");
const [at, later] = ["2026-01-15T09:30:00.000Z", "2026-01-15T10:00:00.000Z"];
const created: TenantEvent = {
  type: "TenantCreated",
  data: {
    tenantId,
    name: "Acme",
    nameHash: "h",
    maxTrys: 10,
    circuitBreakerTimer: 300,
    dataKey: "w1.k",
    webhookSecret: "s1.a",
    webhookSecretFingerprint: "f",
    at,
  },
};
const person = (userId: string) => ({
  userId,
  email: `s1.${userId}`,
  emailHash: `h-${userId}`,
  passwordHash: `p-${userId}`,
});
const joined = (userId: string, role: Role): TenantEvent => ({
  type: "UserCreated",
  data: { tenantId, ...person(userId), role, at },
});
const status = (userId: string, from: UserStatus, to: UserStatus, role: Role): TenantEvent => ({
  type: "UserStatusChanged",
  data: { tenantId, userId, from, status: to, role, at: later },
});

const founder = id("f");
/** Two users of every role. With the founder there are three Owners. */
const one: Readonly<Record<Role, string>> = { Viewer: id("a1"), Developer: id("b1"), Admin: id("c1"), Owner: id("d1") };
const other: Readonly<Record<Role, string>> = {
  Viewer: id("a2"),
  Developer: id("b2"),
  Admin: id("c2"),
  Owner: id("d2"),
};
const everyone = [
  created,
  joined(founder, "Owner"),
  ...roles.flatMap((role) => [joined(one[role], role), joined(other[role], role)]),
];
const by = (role: Role) => ({ userId: one[role], role });
const email = { sealed: "s1.new", hash: "h-new" };

type Change = Omit<Extract<TenantCommand, { type: "ChangeUser" }>, "type" | "by" | "userId" | "at">;
const changed = (caller: Role, userId: string, change: Change): TenantCommand => ({
  type: "ChangeUser",
  by: by(caller),
  userId,
  ...change,
  at: later,
});

/** Specifies a command for every pair of caller and target: allowed for the listed pairs, forbidden for others. */
function only(
  allowed: Readonly<Record<Role, readonly Role[]>>,
  command: (caller: Role, target: Role) => TenantCommand,
): void {
  for (const caller of roles) {
    for (const target of roles) {
      const spec = given(everyone).when(command(caller, target));
      if (allowed[caller].includes(target)) expect(spec.state, `${caller} to ${target}`).to.not.throw();
      else spec.refused("forbidden", "");
    }
  }
}

const all = roles;
const belowOwner = ["Viewer", "Developer", "Admin"] as const;

describe("users", () => {
  describe("creating", () => {
    it("gives no role above the caller's own, and is forbidden to Viewers", () => {
      only({ Viewer: [], Developer: ["Viewer", "Developer"], Admin: belowOwner, Owner: all }, (caller, role) => ({
        type: "CreateUser",
        by: by(caller),
        user: { ...person(id("e")), role },
        at: later,
      }));
    });

    it("makes an active user", () => {
      const user = { ...person(id("e")), role: "Viewer" as const };
      const spec = given(everyone).when({ type: "CreateUser", by: by("Owner"), user, at: later });
      spec.gives({ type: "UserCreated", data: { tenantId, ...user, at: later } });
      expect(spec.state()?.users.get(id("e"))).to.include({ status: "Active", sessionVersion: 0, createdAt: later });
    });
  });

  describe("changing another", () => {
    const asAdmin = { Viewer: [], Developer: [], Admin: belowOwner, Owner: all };

    it("is for Admin and Owner, and an Admin leaves Owners alone: email", () => {
      only(asAdmin, (caller, target) => changed(caller, other[target], { email }));
    });

    it("is for Admin and Owner, and an Admin leaves Owners alone: password", () => {
      only(asAdmin, (caller, target) => changed(caller, other[target], { passwordHash: "p-new" }));
    });

    it("is for Admin and Owner, and an Admin leaves Owners alone: status", () => {
      only(asAdmin, (caller, target) => changed(caller, other[target], { status: "Inactive" }));
    });

    for (const role of roles) {
      it(`is for Admin and Owner, and only an Owner makes Owners: role ${role}`, () => {
        // An Owner who stays Owner is not promoted.
        const admin = role === "Owner" ? [] : belowOwner;
        only({ ...asAdmin, Admin: admin }, (caller, target) => changed(caller, other[target], { role }));
      });
    }

    it("is forbidden even where it would change nothing", () => {
      for (const caller of ["Viewer", "Developer"] as const) {
        for (const target of roles)
          given(everyone)
            .when(changed(caller, other[target], {}))
            .refused("forbidden", caller);
      }
      given(everyone)
        .when(changed("Admin", other.Owner, {}))
        .refused("forbidden", "Owner");
    });

    it("needs an existing user", () => {
      given(everyone)
        .when(changed("Viewer", id("99"), {}))
        .refused("not-found", "user");
    });
  });

  describe("changing oneself", () => {
    it("is allowed to everyone for email and password", () => {
      for (const role of roles) {
        given(everyone)
          .when(changed(role, one[role], { email, passwordHash: "p-new" }))
          .gives(
            {
              type: "UserEmailChanged",
              data: { tenantId, userId: one[role], email: "s1.new", emailHash: "h-new", at: later },
            },
            { type: "UserPasswordChanged", data: { tenantId, userId: one[role], passwordHash: "p-new", at: later } },
          );
      }
    });

    it("is not allowed for a higher role, nor below Admin for any other role or status", () => {
      for (const role of ["Viewer", "Developer"] as const) {
        for (const to of roles.filter((each) => each !== role)) {
          given(everyone)
            .when(changed(role, one[role], { role: to }))
            .refused("forbidden", "role");
        }
        given(everyone)
          .when(changed(role, one[role], { status: "Inactive" }))
          .refused("forbidden", "status");
      }
      given(everyone)
        .when(changed("Admin", one.Admin, { role: "Owner" }))
        .refused("forbidden", "Owner");
      given(everyone)
        .when(changed("Admin", one.Admin, { role: "Viewer" }))
        .givesTypes("UserRoleChanged");
    });
  });

  it("stay as they are when nothing differs", () => {
    const same: Change = {
      email: { sealed: `s1.${other.Viewer}`, hash: `h-${other.Viewer}` },
      role: "Viewer",
      status: "Active",
    };
    given(everyone)
      .when(changed("Owner", other.Viewer, same))
      .changesNothing();
    given(everyone)
      .when(changed("Developer", one.Developer, { role: "Developer", status: "Active" }))
      .changesNothing();
  });

  it("record a change of an email's spelling, even if the address is the same", () => {
    const respelled = { email: { sealed: "s1.other-spelling", hash: `h-${other.Viewer}` } };
    given(everyone)
      .when(changed("Owner", other.Viewer, respelled))
      .givesTypes("UserEmailChanged");
  });

  it("record the former role or status in every change, so that projections can count", () => {
    given(everyone)
      .when(changed("Owner", other.Viewer, { role: "Admin", status: "Inactive" }))
      .gives(
        {
          type: "UserRoleChanged",
          data: { tenantId, userId: other.Viewer, from: "Viewer", role: "Admin", status: "Active", at: later },
        },
        status(other.Viewer, "Active", "Inactive", "Admin"),
      );
  });

  it("lose their sessions when password, role or status changes, not when the email does", () => {
    const version = (change: Change) =>
      given(everyone)
        .when(changed("Owner", other.Viewer, change))
        .state()
        ?.users.get(other.Viewer)?.sessionVersion;
    expect(version({})).to.equal(0);
    expect(version({ email })).to.equal(0);
    expect(version({ passwordHash: "p-new" })).to.equal(1);
    expect(version({ role: "Admin" })).to.equal(1);
    expect(version({ status: "Inactive" })).to.equal(1);
    const back = [
      ...everyone,
      status(other.Viewer, "Active", "Inactive", "Viewer"),
      status(other.Viewer, "Inactive", "Active", "Viewer"),
    ];
    expect(folded(tenant, back)?.users.get(other.Viewer)).to.include({ status: "Active", sessionVersion: 2 });
  });

  describe("deleting", () => {
    it("is for Admin and Owner, and an Admin leaves Owners alone", () => {
      only({ Viewer: [], Developer: [], Admin: belowOwner, Owner: all }, (caller, target) => ({
        type: "DeleteUser",
        by: by(caller),
        userId: other[target],
        at: later,
      }));
    });

    it("forgets the user", () => {
      const spec = given(everyone).when({ type: "DeleteUser", by: by("Admin"), userId: other.Viewer, at: later });
      spec.gives({
        type: "UserDeleted",
        data: { tenantId, userId: other.Viewer, role: "Viewer", status: "Active", at: later },
      });
      expect(spec.state()?.users.has(other.Viewer)).to.equal(false);
      const gone = [
        ...everyone,
        { type: "UserDeleted", data: { tenantId, userId: other.Viewer, role: "Viewer", status: "Active", at: later } },
      ] as TenantEvent[];
      given(gone)
        .when({ type: "DeleteUser", by: by("Admin"), userId: other.Viewer, at: later })
        .refused("not-found", "user");
      given(gone)
        .when(changed("Admin", other.Viewer, {}))
        .refused("not-found", "user");
    });
  });

  describe("the last active Owner", () => {
    const alone = [created, joined(founder, "Owner"), joined(one.Admin, "Admin")];
    const self = { userId: founder, role: "Owner" as const };
    const attempts: readonly TenantCommand[] = [
      ...belowOwner.map((role): TenantCommand => ({ type: "ChangeUser", by: self, userId: founder, role, at: later })),
      { type: "ChangeUser", by: self, userId: founder, status: "Inactive", at: later },
      { type: "ChangeUser", by: self, userId: founder, role: "Viewer", status: "Inactive", email, at: later },
      { type: "DeleteUser", by: self, userId: founder, at: later },
    ];

    it("cannot be demoted, deactivated or deleted", () => {
      for (const attempt of attempts) given(alone).when(attempt).refused("rejected", "last active Owner");
    });

    it("cannot be demoted, deactivated or deleted while the other Owners are inactive", () => {
      const past = [...alone, joined(one.Owner, "Owner"), status(one.Owner, "Active", "Inactive", "Owner")];
      for (const attempt of attempts) given(past).when(attempt).refused("rejected", "last active Owner");
      given(past).when({ type: "DeleteUser", by: self, userId: one.Owner, at: later }).givesTypes("UserDeleted");
    });

    it("may be changed or deleted once there is another", () => {
      const past = [...alone, joined(one.Owner, "Owner")];
      for (const attempt of attempts) expect(decide(folded(tenant, past), attempt)).to.not.be.empty;
    });

    it("may change everything else about itself", () => {
      given(alone)
        .when({
          type: "ChangeUser",
          by: self,
          userId: founder,
          email,
          passwordHash: "p-new",
          role: "Owner",
          status: "Active",
          at: later,
        })
        .givesTypes("UserEmailChanged", "UserPasswordChanged");
    });

    it("is checked only after the caller's role: an Admin is forbidden first", () => {
      given(alone)
        .when({ type: "DeleteUser", by: by("Admin"), userId: founder, at: later })
        .refused("forbidden", "Owner");
      given(alone)
        .when(changed("Admin", founder, { role: "Viewer" }))
        .refused("forbidden", "Owner");
    });
  });
});
