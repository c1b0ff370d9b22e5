import { join } from "node:path";
import {
  logConverters, logFormat, logPath, stateConverters, stateFormat, type KeptFile,
} from "../../../packages/embedded-engine/src/index.ts";
import type { EngineSettings } from "./settings.ts";

type Chosen = Pick<EngineSettings["config"], "dataDir" | "eventStore" | "readModels">;

/** The file of the expiring state. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** The file of the read models. */
export function readModelsPath(dataDir: string): string {
  return join(dataDir, "read-models.db");
}

/**
 * The files of the embedded engines that cannot be made again from others, in the order in which they are copied: the
 * state first, so that it holds nothing that the log lacks. The index and the read models are made from the log.
 */
export function keptFiles({ dataDir, eventStore, readModels }: Chosen): readonly KeptFile[] {
  const state = { path: statePath(dataDir), format: stateFormat, converters: stateConverters };
  const log = { path: logPath(dataDir), format: logFormat, converters: logConverters };
  return [
    ...(readModels.engine === "embedded" ? [state] : []),
    ...(eventStore.engine === "embedded" ? [log] : []),
  ];
}
