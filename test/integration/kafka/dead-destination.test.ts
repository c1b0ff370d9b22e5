import { expect } from "chai";
import type { KafkaQueue } from "../../../src/engines/kafka/kafka-queue.ts";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { openAccount, startTestRelay, type Account, type TestRelay } from "../../support/relay.ts";

const partitions = 3;
const healthyDestinations = 9;
const eventsEach = 20;

describe("Kafka with a destination that is dead", function () {
  this.timeout(60_000);
  let kafka: KafkaUnderTest;
  let receiver: Receiver;
  let queues: KafkaQueues;
  let queue: KafkaQueue;
  let relay: TestRelay;
  let account: Account;

  before(async function () { kafka = await kafkaOrSkip(this); });

  beforeEach(async () => {
    receiver = await startReceiver({ script: () => ({}) });
    receiver.on("/dead", () => "silence");
    queues = new KafkaQueues();
    queue = queues.open(kafka.brokers, { partitions }).queue;
    relay = await startTestRelay(receiver, {
      RELAY_QUEUE: "kafka", RELAY_KAFKA_BROKERS: kafka.brokers.join(","), RELAY_KAFKA_TOPIC_PREFIX: queues.prefix,
      RELAY_KAFKA_PARTITIONS: String(partitions), RELAY_DELIVERY_TIMEOUT: "30s", RELAY_SHUTDOWN_TIMEOUT: "500ms",
    });
    account = await openAccount(relay.url);
  });

  afterEach(async () => {
    await relay.close();
    await queues.close();
    await receiver.close();
  });

  const destinationAt = async (path: string) => (await account.destination({ url: receiver.url(path) })).ingest;
  const send = (ingest: string) => account.producer.post(ingest, { some: "event" });

  it("holds up no partition, not even its own: other events are delivered, and the whole queue is taken", async () => {
    const dead = await destinationAt("/dead");
    const paths = Array.from({ length: healthyDestinations }, (_, index) => `/healthy/${index}`);
    const healthy = await Promise.all(paths.map(destinationAt));
    for (let round = 0; round < 5; round++) await send(dead);
    await receiver.waitFor(() => receiver.requestsTo("/dead").length > 0);

    const from = performance.now();
    for (let round = 0; round < eventsEach; round++) await Promise.all([dead, ...healthy].map(send));
    const all = healthyDestinations * eventsEach;
    await receiver.waitFor(({ received }) => received - receiver.requestsTo("/dead").length >= all);
    // The first attempts at the dead destination have not reached their deadline: no delivery waited for them.
    expect(performance.now() - from).to.be.below(15_000);
    for (const path of paths) expect(receiver.requestsTo(path), path).to.have.length(eventsEach);
    const lags = async () => Object.values(await queue.lag());
    await until("no partition has anything left", async () => (await lags()).every((lag) => lag === 0));
    expect(await lags()).to.have.length(partitions);
    const waiting = 5 + eventsEach - receiver.requestsTo("/dead").length;
    expect(waiting).to.be.above(0);
  });
});
