import { bringUp, EmbeddedQueue, lockDataFolder } from "../../../packages/embedded-engine/src/index.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { WorkQueue } from "../../kernel/ports/work-queue.ts";
import { namingVariable } from "../config/variables.ts";
import { keptFiles } from "./files.ts";
import { openLog } from "./log.ts";
import type { Projector } from "./projector.ts";
import { openReadSide } from "./read-side.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** Messages that no worker has taken yet, by partition. */
export type Lag = () => Promise<Readonly<Record<string, number>>>;

interface OpenQueue {
  readonly queue: WorkQueue;
  readonly outside: WatchedEngine | null;
  readonly lag: Lag | null;
  readonly close: () => Promise<void>;
}

/** The configured engines. */
export interface Engines {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly queue: WorkQueue;
  /** Null if another process projects. */
  readonly projector: Projector | null;
  /** The engines that other processes may use, too. */
  readonly shared: { readonly log: boolean; readonly readModels: boolean; readonly queue: boolean };
  /** Whether this process holds the data folder, since an engine is embedded in it. */
  readonly holdsDataFolder: boolean;
  readonly watched: readonly WatchedEngine[];
  /** Null if the queue stores nothing. */
  readonly queueLag: Lag | null;
  scrub(): Promise<void>;
  /** Closes all engines, each before the engines that it uses. */
  close(): Promise<void>;
}

/** Locks a data folder with embedded engines. Resolves to its release; rejects if another process holds it. */
export async function lockEmbedded(
  { dataDir, eventStore, readModels }: EngineSettings["config"],
): Promise<() => void> {
  if (!isInDataFolder({ eventStore, readModels })) return () => undefined;
  return namingVariable("RELAY_DATA_DIR", () => lockDataFolder(dataDir));
}

function isInDataFolder(
  { eventStore, readModels }: Pick<EngineSettings["config"], "eventStore" | "readModels">,
): boolean {
  return eventStore.engine === "embedded" || readModels.engine === "embedded";
}

/** Converts the files of embedded engines to this release, and opens the engines. Rejects if one is in use. */
export async function openEngines(settings: EngineSettings): Promise<Engines> {
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const unlock = await lockEmbedded(settings.config);
    closing.push(async () => unlock());
    await namingVariable("RELAY_DATA_DIR", () => bringUp(keptFiles(settings.config), settings));
    const log = await openLog(settings);
    closing.push(log.close);
    const readSide = await openReadSide(settings, log.link);
    closing.push(readSide.close);
    const queue = await openQueue(settings);
    closing.push(queue.close);
    return {
      store: log.store,
      readModels: readSide.readModels,
      state: readSide.state,
      queue: queue.queue,
      projector: readSide.projector,
      shared: { log: log.shared, readModels: readSide.outside !== null, queue: queue.outside !== null },
      holdsDataFolder: isInDataFolder(settings.config),
      watched: [log.engine, readSide.outside, queue.outside].filter((engine) => engine !== null),
      queueLag: queue.lag,
      scrub: log.scrub,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openQueue({ config, secrets, clock, logger, metrics }: EngineSettings): Promise<OpenQueue> {
  if (config.queue.engine === "embedded") {
    return { queue: new EmbeddedQueue(), outside: null, lag: null, close: async () => undefined };
  }
  const { openKafkaQueue } = await import("../../engines/kafka/kafka-queue.ts");
  const queue = openKafkaQueue({ config: config.queue, password: secrets.kafkaPassword, clock, logger, metrics });
  return {
    queue,
    outside: { name: "Kafka", isQueue: true, ping: () => queue.ping(), answeredAt: () => queue.answeredAt() },
    lag: () => queue.lag(),
    close: () => queue.close(),
  };
}
