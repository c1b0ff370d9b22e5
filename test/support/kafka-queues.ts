import { randomUUID } from "node:crypto";
import type { KafkaSettings } from "../../src/engines/kafka/client.ts";
import { openKafkaQueue, type KafkaQueue } from "../../src/engines/kafka/kafka-queue.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { Clock } from "../../src/kernel/ports/clock.ts";
import type { Logger } from "../../src/kernel/ports/telemetry.ts";

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly message: string;
}

export interface OpenedQueue {
  readonly queue: KafkaQueue;
  readonly log: readonly LogLine[];
  /** The kinds of the counted anomalies. */
  readonly anomalies: readonly string[];
}

type QueueSettings = Pick<KafkaSettings, "tls" | "sasl"> & {
  readonly partitions: number;
  readonly clock: Clock;
  readonly password: string | null;
};

/** Queues on topics of their own, closed together. */
export class KafkaQueues {
  readonly prefix = `test-${randomUUID()}`;
  readonly topic = `${this.prefix}.work`;
  readonly #opened: KafkaQueue[] = [];

  /** The queue as another process opens it. */
  open(brokers: readonly string[], settings: Partial<QueueSettings> = {}): OpenedQueue {
    const log: LogLine[] = [];
    const anomalies: string[] = [];
    const { partitions = 6, clock = new SystemClock(), tls = null, sasl = null, password = null } = settings;
    const queue = openKafkaQueue({
      config: {
        brokers, tls, sasl, topicPrefix: this.prefix,
        topic: { partitions, replication: null, retentionMs: 86_400_000 },
      },
      password,
      clock,
      logger: recordingLogger(log),
      metrics: { anomaly: (kind) => anomalies.push(kind) },
    });
    this.#opened.push(queue);
    return { queue, log, anomalies };
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((queue) => queue.close()));
  }
}

function recordingLogger(log: LogLine[]): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) => {
    log.push({ level, fields, message });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
