import { existsSync } from "node:fs";
import { join } from "node:path";
import { StoredReadModels } from "../adapters/embedded-read-models/stored-read-models.ts";
import { SystemClock } from "../adapters/system/system-clock.ts";
import type { Config } from "../config/config.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Logger } from "../ports/telemetry.ts";

/** The read models beside a relay that may be using them. */
export interface OpenReadModels {
  readonly readModels: Pick<ReadModels, "get" | "find" | "count" | "distinct">;
  readonly close: () => void | Promise<void>;
}

/** Opens them to be read only. Throws an Error that names the file that is missing. */
export async function openReadModels(
  { dataDir, readModels: chosen }: Config,
  logger: Logger,
): Promise<OpenReadModels> {
  if (chosen.engine === "mongodb") {
    const { connectMongoDb } = await import("../adapters/mongodb/connection.ts");
    const { MongoReadModels } = await import("../adapters/mongodb/read-models.ts");
    const connection = connectMongoDb(chosen.url, { clock: new SystemClock(), logger });
    return { readModels: new MongoReadModels(connection), close: () => connection.close() };
  }
  const file = join(dataDir, "read-models.db");
  if (!existsSync(file)) throw new Error(`RELAY_DATA_DIR: ${file} is not there: start the relay once`);
  const readModels = StoredReadModels.open(file);
  return { readModels, close: () => readModels.close() };
}
