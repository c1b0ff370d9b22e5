import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { WorkConsumer, WorkItem, WorkQueue } from "../../kernel/ports/work-queue.ts";
import { ensureTopic, KafkaAdmin, lagOf } from "./admin.ts";
import { lines, type KafkaSettings } from "./client.ts";
import { Consumption } from "./consumption.ts";
import { WorkProducer } from "./producer.ts";

const pingWithinMs = 1_000;
const lagWithinMs = 2_000;
const topicWithinMs = 5_000;

/** `config.topicPrefix` names topic and group: `<prefix>.work`, `<prefix>.delivery`. */
interface KafkaQueueParts extends Instruments {
  readonly config: KafkaSettings;
  /** Null without SASL. */
  readonly password: string | null;
}

/** The work queue in a Kafka topic, shared by processes with the same brokers and prefix. */
export interface KafkaQueue extends WorkQueue {
  /** Throws QueueUnavailable without an answer within a second, as from busy brokers. */
  ping(): Promise<void>;
  /** When a broker last answered, monotonic ms; -Infinity before the first answer. */
  answeredAt(): number;
  lag(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Each use connects, and creates a missing topic. */
export function openKafkaQueue({ config, password, clock, logger, metrics }: KafkaQueueParts): KafkaQueue {
  let answeredAt = -Infinity;
  const connect = lines(config, password, logger, () => { answeredAt = clock.monotonic(); });
  const topic = `${config.topicPrefix}.work`;
  const groupId = `${config.topicPrefix}.delivery`;
  const admin = new KafkaAdmin(connect, clock);
  const consumptions = new Set<Consumption>();
  let making: Promise<void> | undefined;
  // For each connection: a topic can be deleted.
  const ready = () => {
    making ??= admin
      .ask("making the topic", topicWithinMs, (asked) => ensureTopic(asked, topic, config.topic, logger))
      .finally(() => { making = undefined; });
    return making;
  };
  const producer = new WorkProducer({ connect, topic, clock, logger, ready });
  return {
    publish: (items: readonly WorkItem[]) => producer.publish(items),
    async consume(consumer: WorkConsumer) {
      const consumption = new Consumption({ connect, topic, groupId, clock, logger, metrics }, ready, consumer);
      consumptions.add(consumption);
      return {
        stop: async () => {
          consumptions.delete(consumption);
          await consumption.stop();
        },
      };
    },
    ping: () => admin.ask("ping", pingWithinMs, async (asked) => { await asked.describeCluster(); }),
    answeredAt: () => answeredAt,
    lag: () => admin.ask("lag", lagWithinMs, (asked) => lagOf(asked, topic, groupId)),
    async close() {
      await Promise.all([...consumptions].map((consumption) => consumption.stop()));
      producer.close();
      admin.close();
    },
  };
}
