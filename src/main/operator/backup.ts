import { basename } from "node:path";
import { copyDatabases } from "../../../packages/embedded-engine/src/index.ts";
import { makeFolder } from "../../kernel/files.ts";
import type { Config } from "../config/config.ts";
import { keptFiles } from "../engines/files.ts";

/**
 * Copies the files of a data folder that cannot be made again into `folder`; a relay may be using them. A copy has the
 * format version of its original. The master key is not copied.
 */
export function backUp(config: Config, folder: string): void {
  const { dataDir, eventStore } = config;
  if (eventStore.engine !== "embedded") {
    throw new Error(`RELAY_EVENT_STORE: ${eventStore.engine} has backups of its own; see docs/operating/engines.md`);
  }
  makeFolder(folder);
  copyDatabases(keptFiles(config).map(({ path }) => basename(path)), dataDir, folder);
}
