import { expect } from "chai";
import { Kafka, logLevel } from "kafkajs";
import { QueueUnavailable, type WorkItem } from "../../../src/kernel/ports/work-queue.ts";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import type { Detour } from "../../support/engines/kafka/broker.ts";
import { produceApi, proxyFor, type KafkaProxy } from "../../support/engines/kafka/proxy.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

describe("Kafka's producer", function () {
  this.timeout(60_000);
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;
  let recorder: WorkRecorder;

  before(async function () { kafka = await kafkaOrSkip(this); });

  beforeEach(() => {
    queues = new KafkaQueues();
    recorder = new WorkRecorder();
  });

  afterEach(() => queues.close());

  const taken = () => recorder.eventIds;
  const consume = () => queues.open(kafka.brokers, { partitions: 4 }).queue.consume(recorder);

  describe("with replies that get lost", () => {
    let proxy: KafkaProxy;

    before(function () { if (!kafka.detour) this.skip(); });
    beforeEach(async () => { proxy = await proxyFor(kafka.detour as Detour); });
    afterEach(() => proxy.close());

    it("stores every acknowledged message, and most of them once", async () => {
      await consume();
      const { queue } = queues.open([proxy.address], { partitions: 4 });
      let replies = 0;
      proxy.loseReplies(produceApi, () => ++replies % 25 === 0);
      const publishers = Array.from({ length: 4 }, async (_, publisher) => {
        for (let count = 0; count < 60; count++) {
          const id = `${publisher}/${count}`;
          await queue.publish([firstAttempt(id, { destinationId: `d${count % 7}` })]);
        }
      });
      await Promise.all(publishers);
      await until("all are taken", () => new Set(taken()).size === 240);
      // A send whose reply got lost is repeated by the driver.
      expect(taken()).to.have.lengthOf.within(240, 240 + Math.floor(replies / 25));
      expect(replies).to.be.at.least(240);
    });

    it("does not take the stored items of a failed send for those of the next", async () => {
      await consume();
      const { queue } = queues.open([proxy.address], { partitions: 4 });
      await queue.publish([firstAttempt("first")]);
      let losing = false;
      proxy.loseReplies(produceApi, () => losing);
      for (let round = 0; round < 3; round++) {
        losing = true;
        const error: unknown = await queue.publish([firstAttempt(`lost/${round}`)]).catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(QueueUnavailable);
        losing = false;
        await queue.publish([firstAttempt(`kept/${round}`)]);
      }
      await queue.publish([firstAttempt("last")]);
      await until("the last is taken", () => taken().includes("last"));
      expect(taken()).to.include.members(["kept/0", "kept/1", "kept/2"]);
    });

    it("rejects in bounded time when the brokers stop answering", async () => {
      const { queue } = queues.open([proxy.address], { partitions: 4 });
      await queue.publish([firstAttempt("first")]);
      proxy.freeze();
      const from = performance.now();
      const error: unknown = await queue.publish([firstAttempt("a")]).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(QueueUnavailable);
      expect(performance.now() - from).to.be.below(20_000);
      await proxy.heal();
      await queue.publish([firstAttempt("b")]);
    });

    it("leaves no connection behind, also of requests that it gave up", async () => {
      const { queue } = queues.open([proxy.address], { partitions: 4 });
      const tryAll = () => Promise.allSettled([
        queue.ping(), queue.lag(), queue.publish([firstAttempt("a")]), queue.ping(), queue.lag(),
      ]);
      await queue.consume(recorder);
      await tryAll();
      proxy.freeze();
      await tryAll();
      await proxy.heal();
      await proxy.refuse();
      await tryAll();
      await proxy.heal();
      await Promise.all([tryAll(), queue.close()]);
      await until("all are disconnected", () => proxy.connections === 0);
    });
  });

  it("publishes a wake-up instead of an item that is too large for a message", async () => {
    await consume();
    const { queue } = queues.open(kafka.brokers);
    const large = firstAttempt("large", { payload: "x".repeat(1_200_000), position: "42" });
    const items: WorkItem[] = [firstAttempt("before"), large, firstAttempt("after")];
    await queue.publish(items);
    await until("all are taken", () => recorder.items.length === 3);
    const wakeUp = { kind: "wake", destinationId: large.destinationId, position: "42" };
    expect(recorder.items).to.deep.equal([items[0], wakeUp, items[2]]);
  });

  it("splits a publication that is too large for one send", async () => {
    await consume();
    const { queue } = queues.open(kafka.brokers);
    const payload = "x".repeat(100_000);
    const items = Array.from({ length: 40 }, (_, index) => firstAttempt(String(index), { payload }));
    await queue.publish(items);
    await until("all are taken", () => recorder.items.length >= items.length);
    expect(recorder.items).to.deep.equal(items);
  });

  it("learns a smaller message limit from the brokers", async () => {
    const admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const configEntries = [{ name: "max.message.bytes", value: "20000" }];
    await admin.createTopics({ topics: [{ topic: queues.topic, numPartitions: 4, configEntries }] });
    await admin.disconnect();
    await consume();
    const { queue, log } = queues.open(kafka.brokers, { partitions: 4 });
    const payload = "x".repeat(1_000);
    const small = Array.from({ length: 100 }, (_, index) => firstAttempt(String(index), { payload }));
    const large = firstAttempt("large", { payload: "x".repeat(30_000) });
    await queue.publish([...small, large]);
    await until("all are taken", () => recorder.items.some(({ kind }) => kind === "wake"));
    expect(new Set(taken())).to.have.property("size", 100);
    const warnings = log.filter(({ message }) => message.includes("refuse")).length;
    await queue.publish([...small, large]);
    expect(log.filter(({ message }) => message.includes("refuse"))).to.have.length(warnings);
  });

  it("rejects publications when it is closed", async () => {
    const { queue } = queues.open(kafka.brokers);
    const outcomes = Promise.allSettled([queue.publish([firstAttempt("a")]), queue.publish([firstAttempt("b")])]);
    await queue.close();
    for (const outcome of await outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).to.be.instanceOf(QueueUnavailable);
    }
    const error: unknown = await queue.publish([firstAttempt("c")]).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(QueueUnavailable);
  });
});
