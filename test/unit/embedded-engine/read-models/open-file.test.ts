import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("the file of read models", () => {
  const folder = temporaryFolder();
  after(() => folder.remove());

  const opened = () => readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(join("/proc/self/fd", descriptor));
      return path.startsWith(folder.path) ? [path] : [];
    } catch {
      // The descriptor by which the list was read.
      return [];
    }
  });

  it("is open no more often after syncs and a reset than before, and not at all after the close", async () => {
    const models = new SqliteReadModels(join(folder.path, "read-models.db"), new SystemClock());
    await models.reset([], "any");
    const before = opened();
    for (let n = 0; n < 3; n += 1) expect(await models.settle("any")).to.equal(true);
    await models.reset([], "another");
    expect(opened()).to.have.length(before.length);
    await models.close();
    expect(opened()).to.deep.equal([]);
  });
});
