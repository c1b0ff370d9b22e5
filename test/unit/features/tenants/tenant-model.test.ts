import { expect } from "chai";
import fc from "fast-check";
import { decide, type TenantCommand } from "../../../../src/features/tenants/decide.ts";
import { evolve, type TenantState } from "../../../../src/features/tenants/facts.ts";
import { roles, type Role } from "../../../../src/kernel/domain/roles.ts";
import { met, type Expected } from "../../../support/decider-model.ts";

const names = ["ann", "bob", "cid", "dot"] as const;
type Name = (typeof names)[number];

interface User {
  role: Role;
  status: "Active" | "Inactive";
  email: string;
  /** How often the user's sessions were ended. */
  ended: number;
}

/** The users of a tenant, in the simplest form. */
interface Model {
  is: "none" | "there";
  readonly users: Map<string, User>;
  maxTrys: number;
}

const name = fc.constantFrom(...names);
const role = fc.constantFrom(...roles);
const maybe = <Value>(...values: readonly Value[]) => fc.constantFrom(undefined, ...values);
const mostly = <Value>(value: Value, others: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 2, arbitrary: others });
/** `role` is the role in the caller's token. The tenant's own entry may be newer. */
const by = mostly({ userId: "ann", role: "Owner" } as const, fc.record({ userId: name, role }));
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant("create tenant" as const), owner: mostly("ann", name) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("create" as const), by, user: name, role }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("register" as const), user: name, role }) },
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant("change" as const), by, user: name, email: maybe("a", "b"), password: fc.boolean(),
      role: maybe(...roles), status: maybe("Active" as const, "Inactive" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("delete" as const), by, user: name }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("forget" as const), user: name }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("reset" as const), user: name }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("policy" as const), by, maxTrys: maybe(1, 2) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const isManager = (one: Role) => one === "Admin" || one === "Owner";
const rank = (one: Role) => ["Viewer", "Developer", "Admin", "Owner"].indexOf(one);
const newcomer = (as: Role): User => ({ role: as, status: "Active", email: "sealed", ended: 0 });

function isLastOwner({ users }: Model, user: User): boolean {
  const owners = [...users.values()].filter((one) => one.role === "Owner" && one.status === "Active");
  return owners.length === 1 && owners[0] === user;
}

function isPresent({ users }: Model, { userId, role: as }: { readonly userId: Name; readonly role: Role }): boolean {
  const user = users.get(userId);
  return user?.status === "Active" && user.role === as;
}

function expected(model: Model, one: Step): Expected {
  if (one.type === "create tenant") {
    if (model.is === "there") return { refused: "conflict" };
    model.is = "there";
    model.users.set(one.owner, newcomer("Owner"));
    return ["TenantCreated", "UserCreated"];
  }
  if (model.is === "none") return { refused: "not-found" };
  if ("by" in one && !isPresent(model, one.by)) return { refused: "unauthenticated" };
  if (one.type === "policy") {
    if (!isManager(one.by.role)) return { refused: "forbidden" };
    if (one.maxTrys === undefined || one.maxTrys === model.maxTrys) return [];
    model.maxTrys = one.maxTrys;
    return ["TenantDeliveryPolicyChanged"];
  }
  const user = model.users.get(one.user);
  switch (one.type) {
    case "create":
      if (one.by.role === "Viewer" || rank(one.role) > rank(one.by.role)) return { refused: "forbidden" };
      if (user) return { refused: "conflict" };
      model.users.set(one.user, newcomer(one.role));
      return ["UserCreated"];
    case "register":
      if (user) return { refused: "conflict" };
      model.users.set(one.user, newcomer(one.role));
      return ["UserCreated"];
    case "forget":
      return user ? { refused: "conflict" } : ["UserForgotten"];
    case "reset":
      if (!user) return { refused: "not-found" };
      if (user.role !== "Owner") return { refused: "rejected" };
      user.ended += 1;
      return ["UserPasswordChanged"];
    case "delete":
      if (!user) return { refused: "not-found" };
      if (!isManager(one.by.role)) return { refused: "forbidden" };
      if (user.role === "Owner" && one.by.role !== "Owner") return { refused: "forbidden" };
      if (isLastOwner(model, user)) return { refused: "rejected" };
      model.users.delete(one.user);
      return ["UserDeleted"];
    case "change":
      return user ? changed(model, user, one) : { refused: "not-found" };
  }
}

function changed(model: Model, user: User, one: Extract<Step, { type: "change" }>): Expected {
  const isSelf = one.by.userId === one.user;
  const moves = one.role !== undefined && one.role !== user.role;
  const turns = one.status !== undefined && one.status !== user.status;
  const may =
    (isSelf || isManager(one.by.role)) &&
    (isSelf || user.role !== "Owner" || one.by.role === "Owner") &&
    (!(moves || turns) || isManager(one.by.role)) &&
    (!(moves && one.role === "Owner") || one.by.role === "Owner");
  if (!may) return { refused: "forbidden" };
  if ((moves || turns) && isLastOwner(model, user)) return { refused: "rejected" };
  const facts: string[] = [];
  if (one.email !== undefined && one.email !== user.email) facts.push("UserEmailChanged");
  if (one.password) facts.push("UserPasswordChanged");
  if (moves) facts.push("UserRoleChanged");
  if (turns) facts.push("UserStatusChanged");
  user.ended += [one.password, moves, turns].filter(Boolean).length;
  const { email = user.email, role: as = user.role, status = user.status } = one;
  Object.assign(user, { email, role: as, status });
  return facts;
}

function command(one: Step, at: string): TenantCommand {
  const newUser = (userId: Name) => ({ userId, email: "sealed", emailHash: "sealed", passwordHash: "x" });
  switch (one.type) {
    case "create tenant": {
      const named = { tenantId: "t", name: "T", nameHash: "h", maxTrys: 3, circuitBreakerTimer: 60 };
      const tenant = { ...named, dataKey: "k", webhookSecret: "s", webhookSecretFingerprint: "f" };
      return { type: "CreateTenant", tenant, owner: newUser(one.owner), at };
    }
    case "create":
      return { type: "CreateUser", by: one.by, user: { ...newUser(one.user), role: one.role }, at };
    case "register":
      return { type: "RegisterUser", user: { ...newUser(one.user), role: one.role }, at };
    case "change": {
      const email = one.email === undefined ? undefined : { sealed: one.email, hash: one.email };
      const passwordHash = one.password ? at : undefined;
      const { user: userId, role: as, status } = one;
      return { type: "ChangeUser", by: one.by, userId, email, passwordHash, role: as, status, at };
    }
    case "delete":
      return { type: "DeleteUser", by: one.by, userId: one.user, at };
    case "forget":
      return { type: "ForgetUser", userId: one.user, at };
    case "reset":
      return { type: "ResetOwnerPassword", userId: one.user, passwordHash: at, at };
    case "policy":
      return { type: "ChangeTenant", by: one.by, maxTrys: one.maxTrys, at };
  }
}

describe("tenant and its users, against a model", () => {
  it("obeys the roles, keeps an active Owner, and ends sessions when it must", () => {
    const outcomes = met({
      decider: { initial: (): TenantState => undefined, evolve, decide },
      step,
      model: (): Model => ({ is: "none", users: new Map(), maxTrys: 3 }),
      expected,
      command,
      ofState: (state) => state && {
        users: [...state.users.values()].map(({ id, role: as, status, email, sessionVersion }) =>
          [id, as, status, email, sessionVersion]).sort(),
        maxTrys: state.maxTrys,
        owners: [...state.users.values()].some(({ role: as, status }) => as === "Owner" && status === "Active"),
      },
      ofModel: ({ is, users, maxTrys }) => is === "none" ? undefined : {
        users: [...users].map(([id, { role: as, status, email, ended }]) => [id, as, status, email, ended]).sort(),
        maxTrys,
        owners: true,
      },
    });
    for (const type of ["create", "change", "delete", "policy"]) {
      expect(outcomes).to.include(`${type}: forbidden`);
    }
    expect(outcomes).to.include.keys(
      "change: rejected", "delete: rejected", "reset: rejected", "create: conflict", "register: conflict",
      "forget: conflict",
      "delete: UserDeleted", "change: nothing",
    );
  });
});
