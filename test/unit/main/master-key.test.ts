import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { logPath } from "../../../packages/embedded-engine/src/index.ts";
import { readConfig } from "../../../src/main/config/config.ts";
import { readSecrets } from "../../../src/main/config/secrets.ts";
import { startingMasterKeyOf } from "../../../src/main/master-key.ts";
import { temporaryFolder } from "../../support/embedded-store.ts";
import { quiet } from "../../support/telemetry.ts";

describe("the master key at a start", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => { folder = temporaryFolder(); });
  afterEach(() => folder.remove());

  /** Starts, and returns the warnings. */
  const warnings = async (env: Readonly<Record<string, string>> = {}) => {
    const environment = { RELAY_DATA_DIR: folder.path, ...env };
    const config = readConfig(environment);
    const said: object[] = [];
    const logger = { ...quiet, warn: (fields: object, message: string) => void said.push({ ...fields, message }) };
    await startingMasterKeyOf(config, readSecrets(environment, config), logger);
    return said;
  };

  it("warns of a file that others may read, at every start that uses the file", async () => {
    const path = join(folder.path, "master.key");
    expect(await warnings()).to.have.length(1);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(await warnings()).to.deep.equal([]);
    const message = "others than its owner may read the master key, and with it every secret: chmod 600 the file";
    for (const mode of [0o640, 0o604]) {
      chmodSync(path, mode);
      expect(await warnings()).to.deep.equal([{ path, message }]);
    }
    writeFileSync(logPath(folder.path), "");
    expect(await warnings()).to.deep.equal([{ path, message }]);
    expect(await warnings({ RELAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") })).to.deep.equal([]);
    chmodSync(path, 0o600);
    expect(await warnings()).to.deep.equal([]);
  });
});
