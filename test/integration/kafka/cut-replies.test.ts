import { expect } from "chai";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import type { Detour } from "../../support/engines/kafka/broker.ts";
import { fetchApi, proxyFor, type KafkaProxy } from "../../support/engines/kafka/proxy.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

describe("Kafka with connections that end in the middle of a reply", function () {
  this.timeout(120_000);
  let kafka: KafkaUnderTest;
  let proxy: KafkaProxy;
  let queues: KafkaQueues;

  before(async function () {
    kafka = await kafkaOrSkip(this);
    if (!kafka.detour) this.skip();
  });
  beforeEach(async () => {
    proxy = await proxyFor(kafka.detour as Detour);
    queues = new KafkaQueues();
  });
  afterEach(async () => {
    await queues.close();
    await proxy.close();
  });

  it("still takes all work", async () => {
    const recorder = new WorkRecorder();
    await queues.open([proxy.address]).queue.consume(recorder);
    const { queue } = queues.open(kafka.brokers);
    await until("it has a share", () => recorder.alive);
    let replies = 0;
    proxy.loseReplies(fetchApi, () => ++replies % 5 === 0, "middle");
    for (let count = 0; count < 30; count++) {
      await queue.publish([firstAttempt(String(count), { destinationId: `d${count % 7}` })]);
      await until("it is taken", () => recorder.eventIds.includes(String(count)));
    }
    expect(replies).to.be.above(10);
  });
});
