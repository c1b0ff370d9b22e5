import { EmbeddedQueue } from "../../../packages/embedded-engine/src/index.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { WorkQueue } from "../../kernel/ports/work-queue.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** Messages not yet taken by a worker, by partition. */
export type Lag = () => Promise<Readonly<Record<string, number>>>;

/** The opened work queue. */
export interface OpenQueue {
  readonly queue: WorkQueue;
  /** Null where it is this process's own. */
  readonly outside: WatchedEngine | null;
  /** Null where the queue keeps nothing. */
  readonly lag: Lag | null;
  /** Stops consumers and disconnects from the brokers; does nothing for the embedded queue. */
  readonly close: () => Promise<void>;
}

type QueueSettings = Instruments & Pick<EngineSettings, "config" | "secrets">;

/** Opens the work queue that the configuration asks for. */
export async function openQueue({ config, secrets, clock, logger, metrics }: QueueSettings): Promise<OpenQueue> {
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
