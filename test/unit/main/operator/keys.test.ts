import { join } from "node:path";
import { expect } from "chai";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/index.ts";
import { collections, fingerprint } from "../../../../projections/index.ts";
import { put } from "../../../../projections/projection.ts";
import { tokenKeyName, wrappedKeys } from "../../../../projections/wrapped-keys/wrapped-keys.ts";
import { masterKeyId } from "../../../../src/engines/aes-sealing/aes-sealing.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { readConfig } from "../../../../src/main/config/config.ts";
import { readSecrets } from "../../../../src/main/config/secrets.ts";
import { describeKeys } from "../../../../src/main/operator/reports.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { quiet } from "../../../support/telemetry.ts";

const [newest, old] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
const [newestId, oldId] = [masterKeyId(newest), masterKeyId(old)];
const tenantId = "00000000-0000-4000-8000-000000000001";

describe("the description of the master keys", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => { folder = temporaryFolder(); });
  afterEach(() => folder.remove());

  /** The description where the log needs those keys, and the given master key wraps a tenant's key. */
  const said = async (ofTenant: string, logNeeds = [newestId], atHand: readonly Buffer[] = [newest, old]) => {
    const readModels = new SqliteReadModels(join(folder.path, "read-models.db"), new SystemClock());
    await readModels.reset(collections, fingerprint);
    const platform = { name: tokenKeyName, tenantId: null, masterKeyId: newestId, masterKeys: logNeeds };
    const tenant = { name: tenantId, tenantId, masterKeyId: ofTenant, masterKeys: null };
    const position = "1";
    await readModels.apply([{ position, changes: [put(wrappedKeys, platform), put(wrappedKeys, tenant)] }], position);
    await readModels.close();
    const environment = {
      RELAY_DATA_DIR: folder.path,
      RELAY_MASTER_KEY: atHand[0]?.toString("base64"),
      RELAY_OLD_MASTER_KEYS: atHand[1]?.toString("base64"),
    };
    const config = readConfig(environment);
    return describeKeys({ config, secrets: readSecrets(environment, config), logger: quiet });
  };

  it("says that an old key may go if the log does not need it and it wraps nothing", async () => {
    expect(await said(newestId)).to.deep.equal([
      `${newestId}  newest       wraps 2  needed`,
      `${oldId}  old          wraps 0  needed by nothing`,
      "1 of 1 old master keys may be taken out of RELAY_OLD_MASTER_KEYS",
    ]);
  });

  it("says that an old key is needed if it wraps a key, even if the log no longer needs it", async () => {
    expect(await said(oldId)).to.deep.equal([
      `${newestId}  newest       wraps 1  needed`,
      `${oldId}  old          wraps 1  needed`,
      "0 of 1 old master keys may be taken out of RELAY_OLD_MASTER_KEYS",
    ]);
  });

  it("fails where a key that the log needs is missing, and names the variable", async () => {
    const refused = async (...atHand: readonly Buffer[]) => {
      const answer = await said(oldId, [newestId, oldId], atHand).catch((error: Error) => error.message);
      return String(answer);
    };
    const where = "which this log needs: give this command the relay's own environment";
    expect(await refused(newest)).to.equal(`RELAY_OLD_MASTER_KEYS: lacks ${oldId}, ${where}`);
    const other = Buffer.alloc(32, 3);
    expect(await refused(other)).to.equal(`RELAY_MASTER_KEY: lacks ${newestId}, ${oldId}, ${where}`);
    expect(await refused(other, old)).to.equal(`RELAY_MASTER_KEY: lacks ${newestId}, ${where}`);
    expect(await refused(newest, old)).to.include("0 of 1 old master keys");
  });
});
