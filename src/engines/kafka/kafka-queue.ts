import { Pause } from "../../kernel/ports/clock.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { WorkConsumer, WorkItem, WorkQueue } from "../../kernel/ports/work-queue.ts";
import { ensureTopic, KafkaAdmin, lagOf } from "./admin.ts";
import { lines, type KafkaSettings } from "./client.ts";
import { Membership, type MembershipParts } from "./membership.ts";
import { WorkProducer } from "./producer.ts";

const pingWithinMs = 1_000;
const lagWithinMs = 2_000;
const topicWithinMs = 5_000;
const joinAgainAfterMs = 500;

/** The work queue in a Kafka topic, shared by processes with the same brokers and prefix. */
export interface KafkaQueue extends WorkQueue {
  /** Throws QueueUnavailable without an answer within a second, as from busy brokers. */
  ping(): Promise<void>;
  /** When a broker last answered, monotonic ms; -Infinity before the first answer. */
  answeredAt(): number;
  lag(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Each use connects, and creates a missing topic. `password`: null without SASL. */
export function openKafkaQueue(
  { config, password, clock, logger, metrics }:
    Instruments & { readonly config: KafkaSettings; readonly password: string | null },
): KafkaQueue {
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

/** Keeps this process a member of the group: a new membership follows the end of the last. */
export class Consumption {
  readonly #parts: MembershipParts;
  readonly #ready: () => Promise<unknown>;
  readonly #consumer: WorkConsumer;
  #membership: Membership | undefined;
  readonly #pause: Pause;
  #stopped = false;
  #troubled = false;
  readonly #running: Promise<void>;

  constructor(parts: MembershipParts, ready: () => Promise<unknown>, consumer: WorkConsumer) {
    this.#parts = parts;
    this.#ready = ready;
    this.#pause = new Pause(parts.clock);
    this.#consumer = consumer;
    this.#running = this.#run();
  }

  /** Stops taking items; resolves when the group knows, or after a bounded wait. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    await this.#membership?.leave();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const reason = await this.#live();
      if (this.#isStopped()) return;
      // Logged once per outage.
      const level = this.#troubled ? "debug" : "warn";
      this.#parts.logger[level]({ err: reason }, "work queue: membership lost, joining again");
      this.#troubled = true;
      await this.#pause.wait(joinAgainAfterMs);
    }
  }

  // Keeps the type checker from assuming an unchanged field.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #live(): Promise<unknown> {
    try {
      await this.#ready();
    } catch (error) {
      return error;
    }
    if (this.#stopped) return undefined;
    const membership = new Membership(this.#parts, this.#consumer);
    this.#membership = membership;
    const reason = await membership.live();
    if (membership.joined) this.#troubled = false;
    return reason;
  }
}
