import { MessageChannel } from "node:worker_threads";
import { remoteExpiringState, remoteReadModels } from "../../../packages/embedded-engine/src/index.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { namingVariable } from "../config/variables.ts";
import type { LogLink } from "./log.ts";
import { openMongoDb } from "./mongodb.ts";
import { startReadThread, type Projector } from "./projector.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** The opened read models and expiring state. */
export interface ReadSide {
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  /** Null if another process projects. */
  readonly projector: Projector | null;
  readonly outside: WatchedEngine | null;
  readonly close: () => Promise<void>;
}

/** Opens the configured read models and expiring state. */
export function openReadSide(settings: EngineSettings, link: () => LogLink): Promise<ReadSide> {
  const { readModels } = settings.config;
  if (readModels.engine === "embedded") {
    return namingVariable("RELAY_DATA_DIR", () => openEmbedded(settings, link()));
  }
  return openOutside(settings, readModels.url, link);
}

/** The read thread projects, answers queries, and stores the expiring state. */
async function openEmbedded(settings: EngineSettings, log: LogLink): Promise<ReadSide> {
  const { dataDir } = settings.config;
  const readModels = new MessageChannel();
  const state = new MessageChannel();
  const ports = { readModels: readModels.port2, state: state.port2 };
  const projector = await startReadThread(settings, {
    log, readModels: { engine: "embedded", dataDir, ports },
  });
  const clients = { readModels: remoteReadModels(readModels.port1), state: remoteExpiringState(state.port1) };
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

/** The read thread only projects; queries go to the engine. */
async function openOutside(settings: EngineSettings, url: string, link: () => LogLink): Promise<ReadSide> {
  const { MongoExpiringState } = await import("../../engines/mongodb/expiring-state.ts");
  const { MongoReadModels } = await import("../../engines/mongodb/read-models.ts");
  const { StandaloneServer } = await import("../../engines/mongodb/connection.ts");
  const { clock, logger, projects } = settings;
  const connection = await openMongoDb(url, { clock, logger });
  const projector = projects
    ? await startReadThread(settings, { log: link(), readModels: { engine: "mongodb", url } })
    : null;
  return {
    readModels: new MongoReadModels(connection),
    state: new MongoExpiringState(connection),
    projector,
    outside: {
      name: "MongoDB",
      isUnfit: (reason) => reason instanceof StandaloneServer,
      ping: () => connection.ping(),
      answeredAt: () => connection.answeredAt,
    },
    close: async () => {
      await projector?.close();
      await connection.close();
    },
  };
}
