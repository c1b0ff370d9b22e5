import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/expiring-state/sqlite-expiring-state.ts";

describe("expired entries of the expiring state", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "expiring-state-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are deleted by the writes that follow", async () => {
    const file = join(folder, "state.db");
    let now = 1_700_000_000_000;
    const state = new SqliteExpiringState(file, { now: () => now });
    const stored = () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const found = database.prepare("SELECT key FROM entries UNION ALL SELECT key FROM admissions").all();
      database.close();
      return found.map(({ key }) => String(key));
    };
    for (let n = 0; n < 200; n += 1) {
      await state.put(`key-${n}`, "value", 1_000);
      await state.admit([`kind:${n}`], { max: 5, windowMs: 1_000 });
    }
    expect(stored()).to.have.length(400);
    now += 1_000;
    for (let n = 0; n < 100; n += 1) await state.put("one", "value", null);
    const left = stored();
    await state.close();
    expect(left).to.have.length(1);
    expect(left[0]).to.match(/one$/);
  });
});
