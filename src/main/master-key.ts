import { existsSync } from "node:fs";
import { logPath } from "../../packages/embedded-engine/src/index.ts";
import { exposedMasterKey, loadMasterKey, loadOrCreateMasterKey } from "../engines/aes-sealing/master-key-file.ts";
import { MasterKeyMissing, type KeyRotation } from "../features/key-rotation/key-rotation.ts";
import { Unsealable } from "../kernel/ports/sealing.ts";
import type { Logger } from "../kernel/ports/telemetry.ts";
import type { PlatformKeys } from "../kernel/sealing/platform-keys.ts";
import type { Config } from "./config/config.ts";
import type { Secrets } from "./config/secrets.ts";
import { namingVariable } from "./config/variables.ts";

const backItUp = "made a master key; whoever has it can read every secret: back it up, apart from the data";
const exposed = "others than its owner may read the master key, and with it every secret: chmod 600 the file";

/** The master key of the environment or of the data folder. Rejects with an error that names the variable. */
export async function masterKeyOf({ dataDir }: Config, { masterKey }: Secrets): Promise<Uint8Array> {
  const key = masterKey ?? (await namingVariable("RELAY_DATA_DIR", () => loadMasterKey(dataDir)));
  if (!key) throw new Error(`RELAY_MASTER_KEY: is not set, and ${dataDir} holds no master.key`);
  return key;
}

/** The master key of a relay; its first start, before there is a log, makes one. */
export async function startingMasterKeyOf(config: Config, secrets: Secrets, logger: Logger): Promise<Uint8Array> {
  const { dataDir, eventStore } = config;
  if (secrets.masterKey) return secrets.masterKey;
  const begun = eventStore.engine === "embedded" && existsSync(logPath(dataDir));
  const key = await (begun ? masterKeyOf(config, secrets) : keyOfFirstStart(dataDir, logger));
  const path = exposedMasterKey(dataDir);
  if (path !== null) logger.warn({ path }, exposed);
  return key;
}

async function keyOfFirstStart(dataDir: string, logger: Logger): Promise<Uint8Array> {
  const { key, path, created } = await namingVariable("RELAY_DATA_DIR", () => loadOrCreateMasterKey(dataDir));
  if (created) logger.warn({ path }, backItUp);
  return key;
}

/** Makes the platform's keys on the first start. Rejects if a master key is missing that may still be needed. */
export async function requireMasterKeys(rotation: KeyRotation, keys: PlatformKeys): Promise<void> {
  try {
    await rotation.begin();
    await keys.get();
  } catch (error) {
    if (error instanceof MasterKeyMissing && !error.newest) {
      const problem = `must hold master key ${error.masterKeyId}, since keys may still be wrapped under it`;
      throw new Error(`RELAY_OLD_MASTER_KEYS: ${problem}`, { cause: error });
    }
    if (!(error instanceof Unsealable) && !(error instanceof MasterKeyMissing)) throw error;
    throw new Error("RELAY_MASTER_KEY: is not the key that this log was written under", { cause: error });
  }
}
