import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/expiring-state/sqlite-expiring-state.ts";
import { sized } from "../../../support/size.ts";

const limit = { max: 10, windowMs: 60_000 };

describe("S6 a flood of distinct addresses, in the expiring state", () => {
  let folder: string;
  let time: { now: number };
  let state: SqliteExpiringState;
  const open = (mostAdmissions?: number) => {
    const options = mostAdmissions === undefined ? {} : { mostAdmissions };
    state = new SqliteExpiringState(join(folder, "state.db"), { now: () => time.now }, options);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "expiring-state-"));
    time = { now: 1_700_000_000_000 };
  });
  afterEach(async () => {
    await state.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const rows = () => {
    const database = new DatabaseSync(join(folder, "state.db"), { readOnly: true });
    const count = Number(database.prepare("SELECT count(*) AS n FROM admissions").get()?.["n"]);
    database.close();
    return count;
  };
  const flood = async (count: number, kind: string) => {
    for (let n = 0; n < count; n += 1) {
      time.now += 1;
      expect(await state.admit([`${kind}:address:192.0.${kind}.${n}`], limit)).to.not.equal(null);
    }
  };

  it("takes no more room than the largest number of counters kept, and frees it when they expire", async () => {
    open(1_000);
    await flood(3_000, "a");
    expect(rows()).to.equal(1_000);
    const bytes = () => statSync(join(folder, "state.db")).size + statSync(join(folder, "state.db-wal")).size;
    const full = bytes();
    await flood(sized(5_000, 100_000), "a");
    expect(rows()).to.equal(1_000);
    expect(bytes()).to.be.below(full * 2 + 5_000_000);
    time.now += limit.windowMs + 1;
    for (let n = 0; n < 200; n += 1) await state.put("some", "thing", 1);
    expect(rows()).to.equal(0);
  });

  it("evicts only the oldest counters of its own kind: other limits hold", async () => {
    open(1_000);
    for (let n = 0; n < 10; n += 1) await state.admit(["login:email:victim", "login:address:a"], limit);
    await flood(5_000, "tenant-creation");
    expect(await state.admit(["login:email:victim"], limit)).to.equal(null);
    expect(await state.admit(["login:address:a"], limit)).to.equal(null);
    expect(rows()).to.equal(1_020);
  });

  it("is counted correctly through restarts, expiry, forgiven admissions and failed writes", async () => {
    open(1_000);
    await flood(700, "a");
    await state.close();
    open(1_000);
    await flood(700, "a");
    expect(rows()).to.equal(1_000);
    for (let n = 0; n < 500; n += 1) {
      const slot = await state.admit(["a:address:x", `a:email:${n}`], limit);
      expect(slot).to.not.equal(null);
      if (slot) await state.forgive(slot);
      const broken = state.admit([null as unknown as string], limit);
      expect(await broken.then(() => "admitted", () => "failed")).to.equal("failed");
    }
    time.now += limit.windowMs + 1;
    await flood(300, "a");
    expect(rows()).to.equal(300);
    await flood(900, "a");
    expect(rows()).to.equal(1_000);
  });

  it("never admits an address more often than the limit within any window", async () => {
    open();
    const admitted: number[] = [];
    for (let step = 0; step < 3_000; step += 1) {
      time.now += step % 7 === 0 ? 6_000 : 1;
      if (await state.admit(["login:address:one"], limit)) admitted.push(time.now);
    }
    for (const [index, at] of admitted.entries()) {
      const within = admitted.slice(index).filter((other) => other < at + limit.windowMs);
      expect(within.length).to.be.at.most(limit.max);
    }
    expect(admitted.length).to.be.greaterThan(100);
    time.now += limit.windowMs;
    for (let n = 0; n < 10; n += 1) expect(await state.admit(["edge"], limit)).to.not.equal(null);
    time.now += limit.windowMs - 1;
    expect(await state.admit(["edge"], limit)).to.equal(null);
    time.now += 1;
    expect(await state.admit(["edge"], limit)).to.not.equal(null);
  });

  it("counts no admission for longer than its window, even where the clock was ahead and is set back", async () => {
    open();
    const ahead = 3_600_000;
    time.now += ahead;
    for (let n = 0; n < 10; n += 1) await state.admit(["login:address:one"], limit);
    expect(await state.admit(["login:address:one"], limit)).to.equal(null);
    time.now -= ahead;
    for (let n = 0; n < 10; n += 1) expect(await state.admit(["login:address:one"], limit)).to.not.equal(null);
    expect(await state.admit(["login:address:one"], limit)).to.equal(null);
  });
});
