import { MessageChannel } from "node:worker_threads";
import { ExpiringStateClient } from "../../adapters/embedded-expiring-state/expiring-state-client.ts";
import { ReadModelsClient } from "../../adapters/embedded-read-models/read-models-client.ts";
import type { ExpiringState } from "../../ports/expiring-state.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { EngineSettings, OutsideEngine } from "./engines.ts";
import type { LogLink } from "./log.ts";
import { startReadThread, type Projector } from "./projector.ts";

/** The opened read models and expiring state. */
export interface ReadSide {
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly projector: Projector | null;
  /** Null where it is this process's own. */
  readonly outside: OutsideEngine | null;
  readonly close: () => Promise<void>;
}

/** Opens the read models and the expiring state that the configuration asks for. */
export function openReadSide(settings: EngineSettings, link: () => LogLink): Promise<ReadSide> {
  const { readModels } = settings.config;
  if (readModels.engine !== "embedded") throw new Error("RELAY_READ_MODELS: mongodb is not part of this version");
  return openEmbedded(settings, link());
}

/** One thread projects, answers, and keeps the expiring state. */
async function openEmbedded(settings: EngineSettings, log: LogLink): Promise<ReadSide> {
  const readModels = new MessageChannel();
  const state = new MessageChannel();
  const ports = { readModels: readModels.port2, state: state.port2 };
  const projector = await startReadThread(settings, {
    log, readModels: { engine: "embedded", dataDir: settings.config.dataDir, ports },
  });
  const clients = { readModels: new ReadModelsClient(readModels.port1), state: new ExpiringStateClient(state.port1) };
  return {
    ...clients,
    projector,
    outside: null,
    close: async () => {
      await projector.close();
      clients.readModels.close();
      clients.state.close();
    },
  };
}
