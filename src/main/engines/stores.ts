import { SqliteExpiringState, SqliteReadModels } from "../../../packages/embedded-engine/src/index.ts";
import { inFile } from "../../kernel/files.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { ReadModels, ReadModelWriter } from "../../kernel/ports/read-models.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { serve } from "../../kernel/threads/calls.ts";
import { readModelsPath, statePath } from "./files.ts";
import { repeatedProblem } from "./log.ts";
import { openMongoDb } from "./mongodb.ts";
import type { ReadModelsLink } from "./projector.ts";

/** The read models of the read thread. */
export interface Stores {
  /** Reads see the thread's own writes. */
  readonly readModels: ReadModelWriter & Pick<ReadModels, "find" | "get">;
  /** How long a small batch waits for more facts, so that several facts of an event cost one write. */
  readonly batchDelayMs: number;
  /** Calls the listener with positions that callers wait for. */
  onWanted(listener: (position: Position) => void): void;
  /** Calls the listener when the read models are found damaged: they are unavailable until a reset. */
  onDamage(listener: (error: unknown) => void): void;
  /** Stop the projection runner first. */
  close(): Promise<void>;
}

const housekeeping = {
  kind: "housekeeping",
  first: "the read models' write-ahead log cannot be moved into their file; it is tried again",
  more: "the read models' write-ahead log could not be moved into their file again",
} as const;
const embeddedBatchDelayMs = 200;
/** Shorter: callers poll the engine, so this thread does not know when one waits. */
const outsideBatchDelayMs = 10;

/** Opens the read models in the read thread, and serves embedded ones to the main thread. */
export async function openStores(link: ReadModelsLink, instruments: Instruments): Promise<Stores> {
  return link.engine === "embedded" ? openEmbedded(link, instruments) : openOutside(link.url, instruments);
}

function openEmbedded(
  { dataDir, ports }: Extract<ReadModelsLink, { engine: "embedded" }>, instruments: Instruments,
): Stores {
  const { clock } = instruments;
  const files = { readModels: readModelsPath(dataDir), state: statePath(dataDir) };
  const onAnomaly = repeatedProblem(instruments, housekeeping);
  const readModels = inFile(files.readModels, () => new SqliteReadModels(files.readModels, clock, onAnomaly));
  const state = inFile(files.state, () => new SqliteExpiringState(files.state, clock));
  serve<ReadModels>(ports.readModels, readModels);
  serve<ExpiringState>(ports.state, state);
  return {
    readModels,
    batchDelayMs: embeddedBatchDelayMs,
    onWanted: (listener) => readModels.onWanted(listener),
    onDamage: (listener) => readModels.onDamage(listener),
    close: async () => {
      await readModels.close();
      await state.close();
    },
  };
}

async function openOutside(url: string, instruments: Instruments): Promise<Stores> {
  const { MongoReadModelWriter } = await import("../../engines/mongodb/read-model-writer.ts");
  const connection = await openMongoDb(url, instruments);
  return {
    readModels: new MongoReadModelWriter(connection),
    batchDelayMs: outsideBatchDelayMs,
    onWanted: () => undefined,
    onDamage: () => undefined,
    close: () => connection.close(),
  };
}
