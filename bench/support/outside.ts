import { randomBytes, randomUUID } from "node:crypto";
import { startEventStoreDb } from "../../test/support/engines/eventstoredb.ts";
import { startKafka } from "../../test/support/engines/kafka.ts";
import { startMongoDb } from "../../test/support/engines/mongodb.ts";

/** The environment of a relay. */
export type Env = Readonly<Record<string, string>>;

/** Engines outside of the relay: the tests' own, so wire-compatible servers where the real ones cannot run. */
export interface OutsideEngines {
  /** Which, and where they came from. */
  readonly description: string;
  /** What makes a relay use them, with a log, a topic and a database of its own. */
  fresh(): Promise<Env>;
  stop(): Promise<void>;
}

/** Starts Kafka and MongoDB; a log is started for each relay. */
export async function startOutsideEngines(partitions: number): Promise<OutsideEngines> {
  const [kafka, mongoDb] = await Promise.all([startKafka(), startMongoDb()]);
  const started: { stop(): Promise<void> }[] = [kafka, mongoDb];
  return {
    description: `${kafka.description}; ${mongoDb.description}`,
    async fresh() {
      const log = await startEventStoreDb();
      started.push(log);
      const own = randomUUID().slice(0, 8);
      const database = new URL(mongoDb.url);
      database.pathname = `/bench-${own}`;
      return {
        RELAY_EVENT_STORE: "eventstoredb",
        RELAY_EVENTSTOREDB_URL: log.url,
        RELAY_QUEUE: "kafka",
        RELAY_KAFKA_BROKERS: kafka.brokers.join(","),
        RELAY_KAFKA_TOPIC_PREFIX: `bench-${own}`,
        RELAY_KAFKA_PARTITIONS: String(partitions),
        RELAY_READ_MODELS: "mongodb",
        RELAY_MONGODB_URL: database.href,
        RELAY_MASTER_KEY: randomBytes(32).toString("base64"),
      };
    },
    async stop() {
      await Promise.all(started.map((engine) => engine.stop()));
    },
  };
}
