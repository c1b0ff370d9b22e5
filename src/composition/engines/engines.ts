import { mkdirSync } from "node:fs";
import { openEmbeddedEventStore } from "../../adapters/embedded-event-store/embedded-event-store.ts";
import type { EmbeddedEventStore } from "../../adapters/embedded-event-store/embedded-event-store.ts";
import { JsonEventCodec } from "../../adapters/event-codec/event-codec.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import { dataFolderProblem } from "../data-folder.ts";
import { openReadSide, type ReadSide } from "./read-side.ts";

/** The engines of the embedded default, all in one data folder. */
export interface EmbeddedEngines {
  readonly store: EmbeddedEventStore;
  readonly readSide: ReadSide;
  /** Closes both, the read side first. */
  close(): Promise<void>;
}

export interface EmbeddedSettings {
  readonly dataDir: string;
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  /** Told when a thread has died. */
  readonly onFatal: (error: Error) => void;
}

/** Opens the data folder. Rejects when another process holds it, or a file cannot be opened. */
export async function openEmbeddedEngines(settings: EmbeddedSettings): Promise<EmbeddedEngines> {
  try {
    return await open(settings);
  } catch (error) {
    throw dataFolderProblem(error);
  }
}

async function open(settings: EmbeddedSettings): Promise<EmbeddedEngines> {
  const { dataDir, clock, logger, metrics, onFatal } = settings;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const onTrouble = (error: unknown) => {
    metrics.trouble("subscription");
    logger.warn({ err: error }, "a subscription to the log failed and is tried again");
  };
  const store = await openEmbeddedEventStore({ dataDir, codec: new JsonEventCodec(), clock, onTrouble, onFatal });
  let readSide: ReadSide;
  try {
    readSide = await openReadSide({ ...settings, log: store.connect() });
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    store,
    readSide,
    close: async () => {
      await readSide.close();
      await store.close();
    },
  };
}
