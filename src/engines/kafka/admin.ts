import kafkajs from "kafkajs";
import type { Admin } from "kafkajs";
import { type Clock, late, within } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { QueueUnavailable } from "../../kernel/ports/work-queue.ts";
import { retry, type Line, type TopicSettings } from "./client.ts";

/** A connection with a late request is given up after this silence. */
const silentMs = 7_000;

interface Connected {
  readonly line: Line;
  readonly admin: Promise<Admin>;
  connecting: boolean;
  answeredAt: number;
}

/** Administrative requests over one connection. Neither late answers nor slow connecting count as failures. */
export class KafkaAdmin {
  readonly #connect: () => Line;
  readonly #clock: Clock;
  #connected: Connected | undefined;

  constructor(connect: () => Line, clock: Clock) {
    this.#connect = connect;
    this.#clock = clock;
  }

  /** Throws QueueUnavailable on failure or after `patienceMs`. */
  async ask<T>(what: string, patienceMs: number, task: (admin: Admin) => Promise<T>): Promise<T> {
    const connected = (this.#connected ??= this.#open());
    const asked = connected.admin.then(task);
    asked.then(() => this.#answered(connected), () => undefined);
    try {
      const answer = await within(this.#clock, patienceMs, asked);
      if (answer !== late) return answer;
    } catch (error) {
      if (!connected.connecting) this.#discard(connected);
      throw new QueueUnavailable(`the work queue does not answer: ${what}`, { cause: error });
    }
    if (!connected.connecting && this.#clock.monotonic() - connected.answeredAt >= silentMs) this.#discard(connected);
    throw new QueueUnavailable(`the work queue does not answer: ${what} took longer than ${patienceMs} ms`);
  }

  close(): void {
    this.#connected?.line.cut();
    this.#connected = undefined;
  }

  #open(): Connected {
    const line = this.#connect();
    const admin = line.kafka.admin({ retry: { ...retry, retries: 4 } });
    const connected: Connected = {
      line, admin: admin.connect().then(() => admin), connecting: true, answeredAt: -Infinity,
    };
    connected.admin.then(() => {
      connected.connecting = false;
      this.#answered(connected);
    }, () => {
      connected.connecting = false;
      this.#discard(connected);
    });
    return connected;
  }

  #answered(connected: Connected): void {
    connected.answeredAt = this.#clock.monotonic();
  }

  #discard(connected: Connected): void {
    if (this.#connected === connected) this.#connected = undefined;
    connected.line.cut();
  }
}

/** Creates the topic if missing; logs an existing one's differences from the configuration. */
export async function ensureTopic(
  admin: Admin, topic: string, settings: TopicSettings, logger: Logger,
): Promise<void> {
  if ((await admin.listTopics()).includes(topic)) {
    await compare(admin, topic, settings, logger);
    return;
  }
  const made = await admin.createTopics({
    topics: [{
      topic,
      numPartitions: settings.partitions,
      replicationFactor: settings.replication ?? -1,
      configEntries: Object.entries(configOf(settings)).map(([name, value]) => ({ name, value })),
    }],
  });
  // Another process was quicker: wait until the partitions have leaders.
  if (!made) await admin.fetchTopicMetadata({ topics: [topic] });
}

/** Brokers decompress other clients' batches, so that the driver can read them. */
function configOf({ retentionMs }: TopicSettings): Readonly<Record<string, string>> {
  return { "retention.ms": String(retentionMs), "cleanup.policy": "delete", "compression.type": "uncompressed" };
}

async function compare(admin: Admin, topic: string, settings: TopicSettings, logger: Logger): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length;
  const found: Record<string, unknown> = {};
  if (partitions !== settings.partitions) found["partitions"] = partitions;
  const wanted = configOf(settings);
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: Object.keys(wanted) };
  // An account may lack the right to see a topic's settings.
  const described = await admin.describeConfigs({ resources: [resource], includeSynonyms: false }).catch(() => null);
  for (const { configName, configValue } of described?.resources[0]?.configEntries ?? []) {
    if (wanted[configName] !== configValue) found[configName] = configValue;
  }
  if (Object.keys(found).length === 0) return;
  logger.warn({ topic, found }, "the topic is not as configured; it is left as it is");
}

/** Messages that the group has not taken, by partition. */
export async function lagOf(admin: Admin, topic: string, groupId: string): Promise<Readonly<Record<string, number>>> {
  const [ends, [committed]] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    admin.fetchOffsets({ groupId, topics: [topic] }),
  ]);
  const taken = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  return Object.fromEntries(ends.map(({ partition, high, low }) => {
    const from = Math.max(taken.get(partition) ?? -1, Number(low));
    return [partition, Math.max(0, Number(high) - from)];
  }));
}
