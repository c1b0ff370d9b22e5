import { existsSync } from "node:fs";
import { StoredReadModels } from "../../../packages/embedded-engine/src/index.ts";
import { SystemClock } from "../../engines/system/system-clock.ts";
import { inFile } from "../../kernel/files.ts";
import type { ReadModelQuestions } from "../../kernel/ports/read-models.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import type { Config } from "../config/config.ts";
import { readModelsPath } from "../engines/files.ts";
import { openMongoDb } from "../engines/mongodb.ts";
import { asSaidBy } from "../variable-problem.ts";

/**
 * Runs a task on the read models, beside a relay that may be using them. Where they cannot be opened, rejects with an
 * Error that names the variable, and the fault of the file or the URL.
 */
export async function withReadModels<Result>(
  { dataDir, readModels }: Pick<Config, "dataDir" | "readModels">,
  logger: Logger,
  task: (readModels: ReadModelQuestions) => Promise<Result>,
): Promise<Result> {
  const stored = await open(dataDir, readModels, logger);
  try {
    return await task(stored.readModels);
  } finally {
    await stored.close();
  }
}

async function open(dataDir: string, chosen: Config["readModels"], logger: Logger) {
  if (chosen.engine === "mongodb") {
    const { MongoReadModels } = await import("../../engines/mongodb/read-models.ts");
    const connection = await openMongoDb(chosen.url, { clock: new SystemClock(), logger });
    return { readModels: new MongoReadModels(connection), close: () => connection.close() };
  }
  const readModels = await asSaidBy("RELAY_DATA_DIR", () => openFile(readModelsPath(dataDir)));
  return { readModels, close: async () => readModels.close() };
}

function openFile(file: string): StoredReadModels {
  if (!existsSync(file)) throw new Error(`${file} is not there: start the relay once`);
  return inFile(file, () => StoredReadModels.open(file));
}
