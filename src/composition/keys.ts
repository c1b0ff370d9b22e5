import { existsSync } from "node:fs";
import { join } from "node:path";
import { AesSealing } from "../adapters/aes-sealing/aes-sealing.ts";
import { StoredReadModels } from "../adapters/embedded-read-models/stored-read-models.ts";
import { SystemClock } from "../adapters/system/system-clock.ts";
import { keyInventory } from "../application/key-inventory.ts";
import type { Config } from "../config/config.ts";
import type { Logger } from "../ports/telemetry.ts";
import { masterKeyOf } from "./master-key.ts";
import type { RelaySettings } from "./relay.ts";

/**
 * What the master keys wrap, a line each, whether a relay is running or not; and at last which may go. Throws
 * an Error that names the file that is missing.
 */
export async function describeKeys({ config, secrets, logger }: RelaySettings): Promise<readonly string[]> {
  const { readModels, close } = await openReadModels(config, logger);
  const sealing = new AesSealing(masterKeyOf(config, secrets), secrets.oldMasterKeys);
  try {
    const inventory = await keyInventory(readModels, sealing);
    const [newest, ...old] = sealing.masterKeyIds;
    const lines = inventory.map(({ masterKeyId: id, wraps, needed }) => {
      const place = id === newest ? "newest" : old.includes(id) ? "old" : "not at hand";
      return `${id}  ${place.padEnd(11)}  wraps ${wraps}  ${needed ? "needed" : "needed by nothing"}`;
    });
    const goers = inventory.filter(({ masterKeyId: id, needed }) => old.includes(id) && !needed).length;
    const verdict = old.length === 0
      ? "there is no old master key"
      : `${goers} of ${old.length} old master keys may be taken out of RELAY_OLD_MASTER_KEYS`;
    return [...lines, verdict];
  } finally {
    await close();
  }
}

/** The read models beside a relay that may be using them. */
async function openReadModels(
  { dataDir, readModels: chosen }: Config,
  logger: Logger,
): Promise<{ readModels: Parameters<typeof keyInventory>[0]; readonly close: () => void | Promise<void> }> {
  if (chosen.engine === "mongodb") {
    const { connectMongoDb } = await import("../adapters/mongodb/connection.ts");
    const { MongoReadModels } = await import("../adapters/mongodb/read-models.ts");
    const connection = connectMongoDb(chosen.url, { clock: new SystemClock(), logger });
    return { readModels: new MongoReadModels(connection), close: () => connection.close() };
  }
  const file = join(dataDir, "read-models.db");
  if (!existsSync(file)) throw new Error(`RELAY_DATA_DIR: ${file} is not there: start the relay once`);
  const readModels = new StoredReadModels(file);
  return { readModels, close: () => readModels.close() };
}
