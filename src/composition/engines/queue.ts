import { EmbeddedQueue } from "../../adapters/embedded-queue/embedded-queue.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { EngineSettings, OutsideEngine } from "./engines.ts";

/** Messages that no worker took yet, by partition. */
export type Lag = () => Promise<Readonly<Record<string, number>>>;

/** The opened work queue. */
export interface OpenQueue {
  readonly queue: WorkQueue;
  /** Null where it is this process's own. */
  readonly outside: OutsideEngine | null;
  readonly lag: Lag | null;
  readonly close: () => Promise<void>;
}

/** Opens the work queue that the configuration asks for. */
export async function openQueue(
  { config }: Pick<EngineSettings, "config">,
): Promise<OpenQueue> {
  if (config.queue.engine === "embedded") {
    return { queue: new EmbeddedQueue(), outside: null, lag: null, close: async () => undefined };
  }
  throw new Error("RELAY_QUEUE: kafka is not part of this version");
}
