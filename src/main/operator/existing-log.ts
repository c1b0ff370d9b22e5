import { statSync } from "node:fs";
import { formatOf, logPath, requireNotNewer } from "../../../packages/embedded-engine/src/index.ts";
import { inFile } from "../../kernel/files.ts";
import type { Config } from "../config/config.ts";
import { keptFiles } from "../engines/files.ts";
import { asSaidBy } from "../variable-problem.ts";

/**
 * Rejects where an embedded log does not exist: a command would make one, and report success on an empty log. Rejects,
 * too, where a newer release has written the files.
 */
export async function requireLog(config: Config): Promise<void> {
  const { dataDir, eventStore } = config;
  await asSaidBy("RELAY_DATA_DIR", () => {
    const isMissing = eventStore.engine === "embedded" && !statSync(logPath(dataDir), { throwIfNoEntry: false });
    if (isMissing) throw new Error(`${dataDir} holds no log`);
    for (const { path, format } of keptFiles(config)) inFile(path, () => requireNotNewer(formatOf(path), format));
  });
}
