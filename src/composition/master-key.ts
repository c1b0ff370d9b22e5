import { loadOrCreateMasterKey } from "../adapters/aes-sealing/master-key-file.ts";
import type { Config } from "../config/config.ts";
import type { Secrets } from "../config/secrets.ts";
import type { Logger } from "../ports/telemetry.ts";
import { dataFolderProblem } from "./data-folder.ts";

const backItUp = "made a master key; whoever has it can read every secret: back it up, apart from the data";

/** The master key of the environment, or the data folder's own, which the first start makes. */
export function masterKeyOf(config: Config, secrets: Secrets, logger: Logger): Uint8Array {
  if (secrets.masterKey) return secrets.masterKey;
  try {
    const { key, path, created } = loadOrCreateMasterKey(config.dataDir);
    if (created) logger.warn({ path }, backItUp);
    return key;
  } catch (error) {
    throw dataFolderProblem(error);
  }
}
