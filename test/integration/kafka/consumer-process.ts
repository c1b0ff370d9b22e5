import { openKafkaQueue } from "../../../src/engines/kafka/kafka-queue.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { OwnershipWatch, type Span } from "../../support/ownership.ts";
import { WorkRecorder } from "../../support/work-recorder.ts";

/** The message that starts this process. */
export interface ConsumerOrder {
  readonly brokers: readonly string[];
  readonly topicPrefix: string;
  readonly partitions: number;
  readonly destinations: readonly string[];
}

/** The answer to each later message. */
export interface ConsumerState {
  readonly eventIds: readonly string[];
  readonly owned: readonly string[];
  readonly spans: Readonly<Record<string, readonly Span[]>>;
}

const nothing = () => undefined;

async function begin({ brokers, topicPrefix, partitions, destinations }: ConsumerOrder): Promise<void> {
  const queue = openKafkaQueue({
    config: { brokers, tls: null, sasl: null, topicPrefix, topic: { partitions, replication: null, retentionMs: 1e7 } },
    password: null,
    clock: new SystemClock(),
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    metrics: { anomaly: nothing },
  });
  const recorder = new WorkRecorder();
  const watch = new OwnershipWatch(recorder, destinations);
  await queue.consume(recorder);
  process.on("message", () => {
    const owned = destinations.filter((id) => recorder.owns(id));
    process.send?.({ eventIds: recorder.eventIds, owned, spans: watch.spans } satisfies ConsumerState);
  });
}

process.once("message", (order: ConsumerOrder) => void begin(order));
process.once("disconnect", () => process.exit());
