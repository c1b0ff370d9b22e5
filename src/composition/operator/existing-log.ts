import { statSync } from "node:fs";
import { logPath } from "../../adapters/embedded-event-store/log-file.ts";
import type { Config } from "../../config/config.ts";
import { asSaidBy } from "../variable-problem.ts";

/** Rejects where an embedded log is not there: a command would make one, and report success on nothing. */
export async function requireLog({ dataDir, eventStore }: Config): Promise<void> {
  if (eventStore.engine !== "embedded") return;
  await asSaidBy("RELAY_DATA_DIR", () => {
    if (!statSync(logPath(dataDir), { throwIfNoEntry: false })) throw new Error(`${dataDir} holds no log`);
  });
}
