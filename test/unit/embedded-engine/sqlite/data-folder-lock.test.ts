import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { lockDataFolder } from "../../../../packages/embedded-engine/src/sqlite/data-folder-lock.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("the lock on the data folder", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let dataDir: string;
  beforeEach(() => {
    folder = temporaryFolder();
    dataDir = join(folder.path, "data");
  });
  afterEach(() => folder.remove());

  const elsewhere = () => execFileSync(
    process.execPath, [new URL("./locking.ts", import.meta.url).pathname, dataDir], { encoding: "utf8" },
  );

  it("keeps this process and others from locking it again, until it is unlocked", () => {
    const unlock = lockDataFolder(dataDir);
    const message = `the data folder ${dataDir} is in use by another process`;
    expect(() => lockDataFolder(dataDir)).to.throw(message);
    expect(elsewhere()).to.equal(message);
    unlock();
    expect(elsewhere()).to.equal("locked");
    lockDataFolder(dataDir)();
  });

  it("does not count as held if its file is damaged", () => {
    const lock = join(dataDir, "log.lock");
    mkdirSync(dataDir);
    writeFileSync(lock, "nonsense".repeat(1000));
    expect(() => lockDataFolder(dataDir)).to.throw(`${lock}: file is not a database`);
  });
});
