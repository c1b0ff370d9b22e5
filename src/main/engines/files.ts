import { statSync } from "node:fs";
import { join, basename } from "node:path";
import {
  logConverters, logFormat, logPath, stateConverters, stateFormat, copyDatabases, formatOf, requireNotNewer,
  type KeptFile,
} from "../../../packages/embedded-engine/src/index.ts";
import { makeFolder, inFile } from "../../kernel/files.ts";
import type { Config } from "../config/config.ts";
import { namingVariable } from "../config/variables.ts";
import type { EngineSettings } from "./settings.ts";

type Chosen = Pick<EngineSettings["config"], "dataDir" | "eventStore" | "readModels">;

/** The expiring state. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** The read models. */
export function readModelsPath(dataDir: string): string {
  return join(dataDir, "read-models.db");
}

/** The files that cannot be rebuilt, in the order of a backup: the log's copy has all that the state refers to. */
export function keptFiles({ dataDir, eventStore, readModels }: Chosen): readonly KeptFile[] {
  const state = { path: statePath(dataDir), format: stateFormat, converters: stateConverters };
  const log = { path: logPath(dataDir), format: logFormat, converters: logConverters };
  return [
    ...(readModels.engine === "embedded" ? [state] : []),
    ...(eventStore.engine === "embedded" ? [log] : []),
  ];
}

/** Copies the kept files, in their format version, into `folder`; a relay may be running. Leaves out the master key. */
export function backUp(config: Config, folder: string): void {
  const { dataDir, eventStore } = config;
  if (eventStore.engine !== "embedded") {
    throw new Error(`RELAY_EVENT_STORE: ${eventStore.engine} has backups of its own; see docs/operating/engines.md`);
  }
  makeFolder(folder);
  copyDatabases(keptFiles(config).map(({ path }) => basename(path)), dataDir, folder);
}

/** Rejects if an embedded log is missing, since a command would make an empty one, or if a newer release wrote it. */
export async function requireLog(config: Config): Promise<void> {
  const { dataDir, eventStore } = config;
  await namingVariable("RELAY_DATA_DIR", () => {
    const isMissing = eventStore.engine === "embedded" && !statSync(logPath(dataDir), { throwIfNoEntry: false });
    if (isMissing) throw new Error(`${dataDir} holds no log`);
    for (const { path, format } of keptFiles(config)) inFile(path, () => requireNotNewer(formatOf(path), format));
  });
}
