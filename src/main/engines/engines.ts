import { bringUp, lockDataFolder } from "../../../packages/embedded-engine/src/index.ts";
import type { EventLog, EventStore } from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { WorkQueue } from "../../kernel/ports/work-queue.ts";
import { asSaidBy } from "../variable-problem.ts";
import { keptFiles } from "./files.ts";
import { openLog } from "./log.ts";
import type { Projector } from "./projector.ts";
import { openQueue, type Lag } from "./queue.ts";
import { openReadSide } from "./read-side.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** The engines that the configuration asks for. */
export interface Engines {
  readonly store: EventStore;
  /** The log over a connection of its own, for what must not wait behind the store's load. */
  readonly logTail: EventLog;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly queue: WorkQueue;
  /** Null where another process projects. */
  readonly projector: Projector | null;
  /** Which engines other processes may use at the same time. */
  readonly shared: { readonly log: boolean; readonly readModels: boolean; readonly queue: boolean };
  /** Whether an engine is embedded in the data folder, which is then this process's alone. */
  readonly holdsDataFolder: boolean;
  readonly watched: readonly WatchedEngine[];
  /** How many messages no worker has taken yet; null where the queue keeps nothing. */
  readonly queueLag: Lag | null;
  /** Erases deleted bytes from this process's own files. */
  scrub(): Promise<void>;
  /** Closes all engines, each before the engines that it uses. */
  close(): Promise<void>;
}

/**
 * Holds the data folder for this process where an engine is embedded in it, until the returned function is called.
 * Rejects when another process holds it.
 */
export async function lockEmbedded(
  { dataDir, eventStore, readModels }: EngineSettings["config"],
): Promise<() => void> {
  if (!isInDataFolder({ eventStore, readModels })) return () => undefined;
  return asSaidBy("RELAY_DATA_DIR", () => lockDataFolder(dataDir));
}

function isInDataFolder(
  { eventStore, readModels }: Pick<EngineSettings["config"], "eventStore" | "readModels">,
): boolean {
  return eventStore.engine === "embedded" || readModels.engine === "embedded";
}

/**
 * Opens the engines, after converting the files of embedded ones to this release's formats. Rejects when another
 * process holds the data folder that one is embedded in, or a file in it cannot be opened.
 */
export async function openEngines(settings: EngineSettings): Promise<Engines> {
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const unlock = await lockEmbedded(settings.config);
    closing.push(async () => unlock());
    await asSaidBy("RELAY_DATA_DIR", () => bringUp(keptFiles(settings.config), settings));
    const log = await openLog(settings);
    closing.push(log.close);
    const readSide = await openReadSide(settings, log.link);
    closing.push(readSide.close);
    const queue = await openQueue(settings);
    closing.push(queue.close);
    return {
      store: log.store,
      logTail: log.tail,
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
