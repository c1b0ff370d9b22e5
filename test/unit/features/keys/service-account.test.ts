import { decide } from "../../../../src/features/keys/service-accounts/decide.ts";
import {
  evolve, type ServiceAccountEvent, type ServiceAccountState,
} from "../../../../src/features/keys/service-accounts/facts.ts";
import { specificationsOf } from "../../../support/given.ts";

const given = specificationsOf({ initial: (): ServiceAccountState => undefined, evolve, decide });

const at = "2026-01-15T09:30:00.000Z";
const ids = {
  serviceAccountId: "0193a1b2-c3d4-7000-8000-000000000006", tenantId: "0193a1b2-c3d4-7000-8000-000000000001", at,
};
const [viewer, developer, admin, owner] =
  (["Viewer", "Developer", "Admin", "Owner"] as const).map((role) => ({ by: { role }, at }));
const account = { serviceAccountId: ids.serviceAccountId, tenantId: ids.tenantId, name: "Reports" };
const created = (role: "Viewer" | "Developer" | "Admin"): ServiceAccountEvent =>
  ({ type: "ServiceAccountCreated", data: { ...account, role, at } });
const keyId = (n: number) => `0193a1b2-c3d4-7000-8000-${String(n).padStart(12, "0")}`;
const hash = (n: number) => String(n).padStart(64, "0");
const key = (n: number) => ({
  keyId: keyId(n), name: "nightly", keyHash: hash(n), prefix: "rsk_", last4: "x9Zk", scopes: null,
  expiresAt: null,
});
const issued = (n: number): ServiceAccountEvent => ({ type: "ServiceKeyIssued", data: { ...ids, ...key(n) } });
const revoked = (n: number): ServiceAccountEvent =>
  ({ type: "ServiceKeyRevoked", data: { ...ids, keyId: keyId(n), keyHash: hash(n) } });
const deleted: ServiceAccountEvent = { type: "ServiceAccountDeleted", data: ids };

describe("a service account", () => {
  it("is created once, by an Admin or Owner", () => {
    const command = { type: "CreateServiceAccount", account: { ...account, role: "Admin" }, active: true } as const;
    for (const by of [admin!, owner!]) given([]).when({ ...command, ...by }).gives(created("Admin"));
    for (const by of [viewer!, developer!]) given([]).when({ ...command, ...by }).refused("forbidden", "Admin");
    given([]).when({ ...command, active: false, ...admin! })
      .gives(created("Admin"), { type: "ServiceAccountDeactivated", data: ids });
    given([created("Viewer")]).when({ ...command, ...owner! }).refused("conflict", "service account");
  });

  it("changes named fields, and none with the same value", () => {
    const change = { type: "ChangeServiceAccount", ...admin! } as const;
    given([created("Viewer")]).when({ ...change, name: "Books", role: "Developer", active: false }).gives(
      { type: "ServiceAccountRenamed", data: { ...ids, name: "Books" } },
      { type: "ServiceAccountRoleChanged", data: { ...ids, from: "Viewer", role: "Developer" } },
      { type: "ServiceAccountDeactivated", data: ids },
    );
    given([created("Viewer")]).when({ ...change, name: "Reports", role: "Viewer", active: true }).gives();
    given([created("Viewer")]).when({ ...change, ...developer!, name: "Books" }).refused("forbidden", "Admin");
  });

  it("ends with all its keys when it is deleted, once", () => {
    const remove = { type: "DeleteServiceAccount", ...admin! } as const;
    given([created("Viewer"), issued(1), issued(2), revoked(1)]).when(remove).gives(revoked(2), deleted);
    given([created("Viewer"), deleted]).when(remove).refused("not-found", "service account");
    given([]).when(remove).refused("not-found", "service account");
  });

  it("has keys that are issued and revoked once, at most 100 at a time", () => {
    const issue = { type: "IssueServiceKey", key: key(1), ...admin! } as const;
    const revoke = { type: "RevokeServiceKey", keyId: keyId(1), ...admin! } as const;
    given([created("Viewer")]).when(issue).gives(issued(1));
    given([created("Viewer"), issued(1)]).when(revoke).gives(revoked(1));
    given([created("Viewer"), issued(1), revoked(1)]).when(revoke).refused("not-found", "service key");
    given([created("Viewer"), issued(1)]).when({ ...revoke, ...developer! }).refused("forbidden", "Admin");
    const full = Array.from({ length: 100 }, (_, n) => issued(n + 1));
    given([created("Viewer"), ...full]).when(issue).refused("rejected", "100 keys");
    const another = { ...issue, key: key(101) };
    given([created("Viewer"), ...full, revoked(7)]).when(another).gives(issued(101));
  });

  it("has keys that end after the overlap when they are rotated", () => {
    const rotate = {
      type: "RotateServiceKey", keyId: keyId(1), successor: key(2), overlapSeconds: 60, ...admin!,
    } as const;
    const expiresAt = "2026-01-15T09:31:00.000Z";
    const rotated: ServiceAccountEvent =
      { type: "ServiceKeyRotated", data: { ...ids, keyId: keyId(1), successorId: keyId(2), expiresAt } };
    given([created("Viewer"), issued(1)]).when(rotate).gives(issued(2), rotated);
    given([created("Viewer"), issued(1), issued(3), rotated]).when({ ...rotate, overlapSeconds: 61 })
      .gives(issued(2), rotated);
    given([created("Viewer")]).when(rotate).refused("not-found", "service key");
    given([created("Viewer"), issued(1)]).when({ ...rotate, ...developer! }).refused("forbidden", "Admin");
    const full = Array.from({ length: 100 }, (_, n) => issued(n + 1));
    given([created("Viewer"), ...full]).when(rotate).refused("rejected", "100 keys");
  });
});
