import { Kafka, logLevel, type KafkaJSError } from "kafkajs";
import { freePorts } from "../free-port.ts";
import { eventually } from "../relay.ts";
import { namedBy } from "./engine.ts";
import { versionOf } from "./images.ts";
import type { KafkaUnderTest, Ports } from "./kafka/broker.ts";
import { containerBroker } from "./kafka/container.ts";
import { packagedBroker } from "./kafka/packages.ts";

export type { KafkaUnderTest } from "./kafka/broker.ts";

/** No broker can be had here. */
export class NoKafka extends Error {}

let shared: Promise<KafkaUnderTest> | undefined;

/**
 * The broker of this test process, started when first asked for: the one named by RELAY_TEST_KAFKA_BROKERS, else one in
 * a container, else one from packages. Rejects with {@link NoKafka} on a machine that cannot run one.
 */
export function startKafka(): Promise<KafkaUnderTest> {
  shared ??= start();
  return shared;
}

/** {@link startKafka} for a `before` hook: skips its tests by name where no broker can be had, but never in CI. */
export async function kafkaOrSkip(context: Mocha.Context): Promise<KafkaUnderTest> {
  context.timeout(600_000);
  try {
    return await startKafka();
  } catch (error) {
    if (!(error instanceof NoKafka) || process.env["CI"] === "true") throw error;
    console.log(`  ${error.message}`);
    return context.skip();
  }
}

async function start(): Promise<KafkaUnderTest> {
  const broker = named() ?? (await ownBroker());
  await servesGroups(broker.brokers);
  console.log(`  Kafka for the tests: ${broker.description}`);
  return broker;
}

/**
 * The first request about a group makes a broker create an internal topic, which takes a while. On a busy machine it
 * takes another while until the broker is the group's coordinator, and the client gives up at that.
 */
async function servesGroups(brokers: string[]): Promise<void> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1_000 } }).admin();
  await admin.connect();
  const ask = () => admin.fetchOffsets({ groupId: "the-first" }).then(() => null, (error: KafkaJSError) => error);
  const problem = await eventually(ask, (error) => !error?.retriable, 60_000);
  await admin.disconnect();
  if (problem) throw problem;
}

function named(): KafkaUnderTest | undefined {
  const variable = "RELAY_TEST_KAFKA_BROKERS";
  const brokers = process.env[variable]?.split(",");
  return brokers && { ...namedBy(variable), brokers, detour: null, secure: null };
}

async function ownBroker(): Promise<KafkaUnderTest> {
  const [direct, controller, secure, from, to] = (await freePorts(5)) as [number, number, number, number, number];
  const ports: Ports = { direct, controller, secure, detour: { from, to } };
  try {
    return (await containerBroker(ports)) ?? (await packagedBroker(versionOf("kafka"), ports));
  } catch (error) {
    throw new NoKafka(`No Kafka for the tests: ${String(error)}`, { cause: error });
  }
}
