import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/expiring-state/sqlite-expiring-state.ts";

const [normal, full] = [1, 2];

describe("durability of the expiring state", () => {
  const exec = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, "exec") as { value: DatabaseSync["exec"] };
  afterEach(() => {
    Object.defineProperty(DatabaseSync.prototype, "exec", exec);
  });

  it("covers a loss of power for put entries, such as the end of a token, and for nothing else", async () => {
    const levels: unknown[] = [];
    Object.defineProperty(DatabaseSync.prototype, "exec", {
      ...exec,
      value(this: DatabaseSync, sql: string) {
        if (sql === "COMMIT") levels.push(this.prepare("PRAGMA synchronous").get()?.["synchronous"]);
        exec.value.call(this, sql);
      },
    });
    const state = new SqliteExpiringState(":memory:", { now: () => 0 });
    await state.admit(["kind:key"], { max: 1, windowMs: 1 });
    await state.put("key", "value", null);
    await state.lease("name", "owner", 1);
    expect(levels).to.deep.equal([normal, full, normal]);
    await state.close();
  });

  for (const left of ["open", "rolled back, as SQLite does where the disk is full"]) {
    it(`is none for a failed admission, which is not counted, its transaction left ${left}`, async () => {
      let failing = true;
      Object.defineProperty(DatabaseSync.prototype, "exec", {
        ...exec,
        value(this: DatabaseSync, sql: string) {
          if (failing && sql === "COMMIT") {
            if (left !== "open") exec.value.call(this, "ROLLBACK");
            throw new Error("disk full");
          }
          exec.value.call(this, sql);
        },
      });
      const state = new SqliteExpiringState(":memory:", { now: () => 0 }, { mostAdmissions: 2 });
      const admit = (key: string) => state.admit([`kind:${key}`], { max: 1, windowMs: 1 }).catch(String);
      for (const key of ["a", "b"]) expect(await admit(key)).to.equal("ExpiringStateUnavailable: disk full");
      failing = false;
      for (const key of ["a", "b"]) expect(await admit(key)).to.have.property("keys");
      for (const key of ["a", "b"]) expect(await admit(key)).to.equal(null);
      await state.close();
    });
  }
});
