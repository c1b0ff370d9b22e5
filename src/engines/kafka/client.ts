import type { ConnectionOptions } from "node:tls";
import { Kafka, logLevel, type KafkaConfig as Connection, type RetryOptions, type SASLOptions } from "kafkajs";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { seedOf, Sockets } from "./sockets.ts";

/** The brokers' addresses, the protocol to them, and the settings of a topic to be made. */
export interface KafkaSettings {
  /** host:port each. */
  readonly brokers: readonly string[];
  /** Null: no TLS. `ca` null: the authorities Node trusts. */
  readonly tls: { readonly ca: { readonly pem: string } | null } | null;
  readonly sasl: { readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512"; readonly username: string } | null;
  readonly topicPrefix: string;
  readonly topic: TopicSettings;
}

/** How the topic is made; one that is there already is left as it is. */
export interface TopicSettings {
  readonly partitions: number;
  /** Null: the brokers' default. */
  readonly replication: number | null;
  /** How long messages are kept; an item that expires is in the due index, too. */
  readonly retentionMs: number;
}

/** When the driver gives up; the adapter then goes on with a fresh connection. */
export const retry: RetryOptions = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 };

/** A client of the brokers with connections of its own. */
export interface Line {
  readonly kafka: Kafka;
  /** Cuts the connections for good. */
  cut(): void;
}

/**
 * Makes clients of the brokers, which call `onAnswer` with every answer. The driver logs failures as errors and then
 * repairs them, so its lines are logged at debug level.
 */
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
  // As curl does: any certificate of the file ends a chain, not only one that signed itself.
  return tls.ca === null ? {} : { ca: tls.ca.pem, allowPartialTrustChain: true };
}

function authentication(sasl: KafkaSettings["sasl"], password: string | null): Pick<Connection, "sasl"> {
  if (sasl === null) return {};
  // The driver's type wants each mechanism spelled out on its own.
  return { sasl: { ...sasl, password: password ?? "" } as SASLOptions };
}
