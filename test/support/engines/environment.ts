import { randomBytes, randomUUID } from "node:crypto";
import type { EventStoreDbUnderTest } from "./eventstoredb.ts";
import type { KafkaUnderTest } from "./kafka.ts";
import { newDatabase, type MongoDbUnderTest } from "./mongodb.ts";

/** The environment of a relay on these engines, with a topic, a database and a master key of its own. */
export function relayOn(
  eventStoreDb: Pick<EventStoreDbUnderTest, "url">, kafka: Pick<KafkaUnderTest, "brokers">,
  mongoDb: Pick<MongoDbUnderTest, "url">, { partitions }: { readonly partitions: number },
): Readonly<Record<string, string>> {
  return {
    RELAY_EVENT_STORE: "eventstoredb",
    RELAY_EVENTSTOREDB_URL: eventStoreDb.url,
    RELAY_QUEUE: "kafka",
    RELAY_KAFKA_BROKERS: kafka.brokers.join(","),
    RELAY_KAFKA_TOPIC_PREFIX: `relay-${randomUUID().slice(0, 8)}`,
    RELAY_KAFKA_PARTITIONS: String(partitions),
    RELAY_READ_MODELS: "mongodb",
    RELAY_MONGODB_URL: newDatabase(mongoDb),
    RELAY_MASTER_KEY: randomBytes(32).toString("base64"),
  };
}
