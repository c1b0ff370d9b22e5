import { zstdCompressSync } from "node:zlib";
import { expect } from "chai";
import kafkajs, { CompressionTypes, Kafka, logLevel, type Message, type Producer } from "kafkajs";
import type { KafkaQueue } from "../../../src/engines/kafka/kafka-queue.ts";
import { QueueUnavailable } from "../../../src/kernel/ports/work-queue.ts";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues, type OpenedQueue } from "../../support/kafka-queues.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

const total = async (queue: KafkaQueue) => Object.values(await queue.lag()).reduce((sum, lag) => sum + lag, 0);

describe("Kafka's topic", function () {
  this.timeout(60_000);
  let kafka: KafkaUnderTest;
  let driver: Kafka;
  let queues: KafkaQueues;
  let opened: OpenedQueue;
  let recorder: WorkRecorder;

  before(async function () {
    kafka = await kafkaOrSkip(this);
    driver = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING });
  });

  beforeEach(() => {
    queues = new KafkaQueues();
    opened = queues.open(kafka.brokers);
    recorder = new WorkRecorder();
  });

  afterEach(() => queues.close());

  describe("with messages of garbage", () => {
    let producer: Producer;

    beforeEach(async () => {
      producer = driver.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
      await producer.connect();
      await opened.queue.publish([firstAttempt("first")]);
    });

    afterEach(() => producer.disconnect());

    const secret = "secret-of-a-payload";
    const item = { ...firstAttempt("x"), payload: secret };
    const garbage: readonly (Buffer | string | null)[] = [
      null, "", "\u0000", secret, Buffer.from([0xff, 0xfe, 0x00, 0x80]), "[]", "null", "1", "{}", `{"v":1}`,
      JSON.stringify(item), JSON.stringify({ ...item, v: 0 }), JSON.stringify({ ...item, v: 1, kind: 2 }),
      JSON.stringify({ ...item, v: 1, revision: "0" }), JSON.stringify({ ...item, v: 1, idempotencyKey: 1 }),
      JSON.stringify({ ...item, v: 1, payload: undefined }), JSON.stringify({ v: 1, kind: "wake", destinationId: "d" }),
    ];
    const { destinationId: key } = item;

    it("sets them aside, counted and logged by their offset without content, and takes their neighbours", async () => {
      await producer.send({ topic: queues.topic, messages: garbage.map((value): Message => ({ key, value })) });
      await opened.queue.publish([firstAttempt("last")]);
      await opened.queue.consume(recorder);
      await until("the last is taken", () => recorder.eventIds.includes("last"));
      expect(recorder.items.map((taken) => taken.kind === "first" && taken.eventId)).to.deep.equal(["first", "last"]);
      expect(opened.anomalies).to.deep.equal(garbage.map(() => "queue message"));
      const lines = opened.log.filter(({ level, message }) => level === "warn" && message.includes("set aside"));
      expect(lines.map(({ fields }) => (fields as { offset: string }).offset))
        .to.deep.equal(garbage.map((_, index) => String(index + 1)));
      expect(lines[0]?.fields).to.include.keys("topic", "partition");
      expect(JSON.stringify(opened.log)).to.not.include(secret);
      await until("they are done with", async () => (await total(opened.queue)) === 0);
    });

    it("skips items in the format of a newer release, and takes items with additional fields", async () => {
      const newer = [{ ...item, v: 2 }, { ...item, v: 1, kind: "second" }, { v: 2 }];
      const more = { ...firstAttempt("more"), v: 1, priority: 7 };
      const values = [...newer, more].map((value) => JSON.stringify(value));
      await producer.send({ topic: queues.topic, messages: values.map((value): Message => ({ key, value })) });
      await opened.queue.publish([firstAttempt("last")]);
      await opened.queue.consume(recorder);
      await until("the last is taken", () => recorder.eventIds.includes("last"));
      expect(recorder.eventIds).to.deep.equal(["first", "more", "last"]);
      expect(opened.anomalies).to.deep.equal([]);
      await until("they are done with", async () => (await total(opened.queue)) === 0);
    });

    it("reads on behind messages that another client compressed with an unknown codec", async () => {
      const unreadable = () => Promise.reject(new Error("stored as it was sent"));
      const compress = async (encoder: { buffer: Buffer }) => zstdCompressSync(encoder.buffer);
      kafkajs.CompressionCodecs[CompressionTypes.ZSTD] = () => ({ compress, decompress: unreadable });
      const messages = [{ key, value: "garbage" }];
      await producer.send({ topic: queues.topic, compression: CompressionTypes.ZSTD, messages });
      await producer.send({ topic: queues.topic, compression: CompressionTypes.GZIP, messages });
      await opened.queue.publish([firstAttempt("last")]);
      await opened.queue.consume(recorder);
      await until("the last is taken", () => recorder.eventIds.includes("last"));
      expect(opened.anomalies).to.have.length(2);
    });
  });

  it("is made with the partitions and the retention configured", async () => {
    await opened.queue.publish([firstAttempt("a")]);
    const admin = driver.admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [queues.topic] });
    const type = kafkajs.ConfigResourceTypes.TOPIC;
    const { resources } = await admin.describeConfigs({
      resources: [{ type, name: queues.topic, configNames: ["retention.ms"] }], includeSynonyms: false,
    });
    await admin.disconnect();
    expect(topics[0]?.partitions).to.have.length(6);
    expect(resources[0]?.configEntries[0]?.configValue).to.equal("86400000");
    expect(opened.log.filter(({ level }) => level !== "debug")).to.deep.equal([]);
  });

  it("is left unchanged if it exists, and differences are logged", async () => {
    await opened.queue.publish([firstAttempt("a")]);
    const { queue, log } = queues.open(kafka.brokers, { partitions: 7 });
    await queue.publish([firstAttempt("b")]);
    const [line] = log.filter(({ level }) => level === "warn");
    expect(line?.fields).to.deep.equal({ topic: queues.topic, found: { partitions: 6 } });
    expect(await queue.lag()).to.have.all.keys("0", "1", "2", "3", "4", "5");
  });

  it("is made once by many processes that start together", async () => {
    const many = Array.from({ length: 5 }, () => queues.open(kafka.brokers).queue);
    await Promise.all(many.map((queue, index) => queue.publish([firstAttempt(String(index))])));
    // A broker that has just made the topic may be slow to report its offsets.
    await until("it holds what all of them sent", async () => (await total(opened.queue).catch(() => 0)) === 5);
  });

  it("is made again when it was deleted", async () => {
    await opened.queue.consume(recorder);
    await opened.queue.publish([firstAttempt("a")]);
    await until("it is taken", () => recorder.eventIds.includes("a"));
    const admin = driver.admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [queues.topic] });
    await admin.disconnect();
    await until("it takes items again", () => opened.queue.publish([firstAttempt("b")]).then(() => true, () => false));
    await until("they arrive", () => recorder.eventIds.includes("b"));
  });

  it("reports how many items are not taken yet", async () => {
    await opened.queue.publish([firstAttempt("a")]);
    expect(await total(opened.queue)).to.equal(1);
    const items = Array.from({ length: 30 }, (_, index) => firstAttempt(String(index), { destinationId: `d${index}` }));
    await opened.queue.publish(items);
    expect(await total(opened.queue)).to.equal(31);
    const consumption = await opened.queue.consume(recorder);
    await until("all is taken", () => recorder.items.length >= 31);
    await until("the lag is gone", async () => (await total(opened.queue)) === 0);
    await consumption.stop();
    await opened.queue.publish([firstAttempt("z")]);
    expect(await total(opened.queue)).to.equal(1);
  });

  it("leaves no timer of the driver running when it is closed", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    // A turn later, when Mocha's own timer exists.
    const before = await Promise.resolve().then(timers);
    const { queue } = queues.open(kafka.brokers);
    await queue.consume(recorder);
    await queue.publish([firstAttempt("a")]);
    await until("it is taken", () => recorder.items.length === 1);
    await queue.ping();
    expect(timers()).to.be.above(before);
    await queue.close();
    await until("its timers are gone", () => timers() <= before);
  });

  it("answers pings, and fails within seconds when no broker answers", async () => {
    await opened.queue.ping();
    const pingedAt = opened.queue.answeredAt();
    await opened.queue.publish([firstAttempt("b")]);
    expect(opened.queue.answeredAt(), "any answer counts").to.be.above(pingedAt);
    const { queue } = queues.open(["127.0.0.1:1"]);
    const from = performance.now();
    for (const asked of [queue.ping(), queue.lag()]) {
      const error: unknown = await asked.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(QueueUnavailable);
    }
    expect(performance.now() - from).to.be.below(10_000);
    expect(queue.answeredAt()).to.equal(-Infinity);
  });
});
