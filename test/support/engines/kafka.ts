import { createServer, type AddressInfo } from "node:net";
import { containerBroker } from "./kafka/container.ts";
import { packagedBroker } from "./kafka/packages.ts";

/** A broker that tests may share: what one breaks it repairs before it ends. */
export interface KafkaUnderTest {
  readonly brokers: string[];
  /** Engine, version and where it came from. */
  readonly description: string;
  /** Whether the methods below can do anything: a broker named by the environment is not this process's to break. */
  readonly breakable: boolean;
  /** Gives the broker back as it was found. It ends with the process, whatever way that ends. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port and data, after a kill; resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP. */
  freeze(): Promise<void>;
  /** SIGCONT. */
  thaw(): Promise<void>;
}

/** No broker can be had here. */
export class NoKafka extends Error {}

const version = "3.9.2";
let shared: Promise<KafkaUnderTest> | undefined;

/**
 * The broker of this test process, started when first asked for: the one named by RELAY_TEST_KAFKA_BROKERS, else one in
 * a container, else one from packages. Rejects with {@link NoKafka} where none can be had.
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
  const broker = named() ?? (await containerBroker(version, await freePort())) ?? (await packaged());
  console.log(`  Kafka for the tests: ${broker.description}`);
  return broker;
}

function named(): KafkaUnderTest | undefined {
  const brokers = process.env["RELAY_TEST_KAFKA_BROKERS"]?.split(",");
  if (!brokers) return undefined;
  const refuse = () => Promise.reject(new Error("a broker named by the environment cannot be broken"));
  return {
    brokers, description: `the brokers at ${brokers.join(", ")}`, breakable: false,
    stop: async () => undefined, kill: refuse, restart: refuse, freeze: refuse, thaw: refuse,
  };
}

async function packaged(): Promise<KafkaUnderTest> {
  try {
    return await packagedBroker(version, await freePort(), await freePort());
  } catch (error) {
    throw new NoKafka(`No Kafka for the tests: ${String(error)}`, { cause: error });
  }
}

/** A port that nobody listened on a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
