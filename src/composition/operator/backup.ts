import { copyDatabases } from "../../adapters/embedded-backup/copy-databases.ts";
import { makeFolder } from "../../adapters/file-system/folder.ts";
import type { Config } from "../../config/config.ts";

/**
 * Copies what cannot be made again from a data folder into `folder`, while a relay may be using it: the
 * expiring state first, then the log, so that the state knows nothing the log does not. Read models and
 * the log's index are built again from the log. The master key is not copied.
 */
export function backUp({ dataDir, eventStore, readModels }: Config, folder: string): void {
  if (eventStore.engine !== "embedded") {
    throw new Error(`RELAY_EVENT_STORE: ${eventStore.engine} has backups of its own; see docs/operating/engines.md`);
  }
  makeFolder(folder);
  const files = readModels.engine === "embedded" ? ["state.db", "log.db"] : ["log.db"];
  copyDatabases(files, dataDir, folder);
}
