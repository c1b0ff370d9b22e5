import type { ConnectionOptions } from "node:tls";
import { Kafka, logLevel, type KafkaConfig as Connection, type RetryOptions, type SASLOptions } from "kafkajs";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { seedOf, Sockets } from "./sockets.ts";

/** The brokers, the protocol to them, and the topic's settings. */
export interface KafkaSettings {
  readonly brokers: readonly string[];
  /** Null: no TLS. `ca` null: Node's authorities. */
  readonly tls: { readonly ca: { readonly pem: string } | null } | null;
  readonly sasl: { readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512"; readonly username: string } | null;
  readonly topicPrefix: string;
  readonly topic: TopicSettings;
}

/** For creating the topic; an existing one stays as it is. */
export interface TopicSettings {
  readonly partitions: number;
  /** Null: the brokers' default. */
  readonly replication: number | null;
  /** An expired item is in the due index, too. */
  readonly retentionMs: number;
}

/** After these retries the adapter opens a fresh connection. */
export const retry: RetryOptions = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 };

/** A client of the brokers with its own connections; `cut` closes them for good. */
export interface Line {
  readonly kafka: Kafka;
  cut(): void;
}

/** Makes clients of the brokers. The driver logs failures that it repairs: these lines go to the debug level. */
export function lines(
  settings: KafkaSettings, password: string | null, logger: Logger, onAnswer: () => void,
): () => Line {
  const tls = tlsOptions(settings.tls);
  return () => {
    const sockets = new Sockets(tls, onAnswer);
    const kafka = new Kafka({
      clientId: settings.topicPrefix,
      brokers: settings.brokers.map(seedOf),
      socketFactory: sockets.factory,
      connectionTimeout: 1_000,
      authenticationTimeout: 3_000,
      requestTimeout: 5_000,
      retry,
      ...authentication(settings.sasl, password),
      logLevel: logLevel.WARN,
      logCreator: () => ({ namespace, log }) => {
        const { message, error, groupId, memberId } = log as Readonly<Record<string, unknown>>;
        logger.debug({ namespace, error, groupId, memberId }, `kafkajs: ${String(message)}`);
      },
    });
    return { kafka, cut: () => sockets.cut() };
  };
}

function tlsOptions(tls: KafkaSettings["tls"]): ConnectionOptions | null {
  if (tls === null) return null;
  // As with curl, any certificate of the file ends a chain.
  return tls.ca === null ? {} : { ca: tls.ca.pem, allowPartialTrustChain: true };
}

function authentication(sasl: KafkaSettings["sasl"], password: string | null): Pick<Connection, "sasl"> {
  if (sasl === null) return {};
  // The driver's type lists each mechanism separately.
  return { sasl: { ...sasl, password: password ?? "" } as SASLOptions };
}
