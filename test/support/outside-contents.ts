import { randomUUID } from "node:crypto";
import { Kafka, logLevel } from "kafkajs";
import { BSON, MongoClient } from "mongodb";
import { EventStoreDb } from "../../src/engines/eventstoredb/event-store-db.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { plainCodec } from "./plain-codec.ts";
import { eventually } from "./relay.ts";

/** A part of the engines' contents, and its place. */
export interface Content {
  readonly place: string;
  readonly text: string;
}

type Env = Readonly<Record<string, string>>;

/** Everything that the outside engines of a relay's environment hold of it: log, topic and database. */
export async function outsideContents(env: Env): Promise<readonly Content[]> {
  return (await Promise.all([logOf(env), topicOf(env), databaseOf(env)])).flat();
}

async function logOf({ RELAY_EVENTSTOREDB_URL: url = "" }: Env): Promise<Content[]> {
  const store = new EventStoreDb({ url, codec: plainCodec, clock: new SystemClock() });
  const found: Content[] = [];
  for (let after = ""; ;) {
    const { entries, upTo } = await store.readLog(after, 500);
    found.push(...entries.map((entry) => ({ place: `log: ${entry.type}`, text: JSON.stringify(entry) })));
    if (entries.length === 0 && upTo <= after) break;
    after = upTo;
  }
  await store.close();
  return found;
}

async function topicOf({ RELAY_KAFKA_BROKERS: brokers = "", RELAY_KAFKA_TOPIC_PREFIX: prefix = "" }: Env) {
  const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.NOTHING });
  const topic = `${prefix}.work`;
  const admin = kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(topic);
  const stored = offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: `search-${randomUUID()}`, maxWaitTimeInMs: 200 });
  const found: Content[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message: { key, value, headers } }) => {
      found.push({ place: "topic", text: `${String(key)} ${String(value)} ${JSON.stringify(headers)}` });
    },
  });
  await eventually(async () => found.length, (count) => count >= stored, 60_000);
  await consumer.disconnect();
  return found;
}

async function databaseOf({ RELAY_MONGODB_URL: url = "" }: Env): Promise<Content[]> {
  const client = await MongoClient.connect(url);
  const found: Content[] = [];
  for (const { name } of await client.db().listCollections().toArray()) {
    for await (const document of client.db().collection(name).find({}, { promoteBuffers: false })) {
      found.push({ place: `database: ${name}`, text: BSON.EJSON.stringify(document) });
    }
  }
  await client.close();
  return found;
}
