import { expect } from "chai";
import { Kafka, logLevel } from "kafkajs";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

const destinations = Array.from({ length: 60 }, (_, index) => `destination-${index}`);
const partitionsBefore = 6;
const partitionsAfter = 12;

describe("a topic of Kafka that is given more partitions", function () {
  this.timeout(90_000);
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;
  let members: WorkRecorder[];

  before(async function () { kafka = await kafkaOrSkip(this); });
  beforeEach(() => {
    queues = new KafkaQueues();
    members = [];
  });
  afterEach(() => queues.close());

  const join = async () => {
    const member = new WorkRecorder();
    members.push(member);
    await queues.open(kafka.brokers, { partitions: partitionsBefore }).queue.consume(member);
    return member;
  };
  const owners = (id: string) => members.filter((member) => member.owns(id)).length;
  const settled = () => members.every(({ alive }) => alive);

  const grow = async () => {
    const admin = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.createPartitions({ topicPartitions: [{ topic: queues.topic, count: partitionsAfter }] });
    await admin.disconnect();
  };

  it("hands earlier items to their destination's owner, or to no member", async () => {
    await join();
    await join();
    await until("both have a share", () =>
      members.every((member) => destinations.some((id) => member.owns(id))) && settled());
    const producer = queues.open(kafka.brokers, { partitions: partitionsBefore }).queue;
    const publish = (name: string, by = producer) =>
      by.publish(destinations.map((destinationId) => firstAttempt(`${name} ${destinationId}`, { destinationId })));
    await publish("before");
    await until("all came", () => members.flatMap(({ items }) => items).length >= destinations.length);
    await grow();
    const third = await join();
    await until("the third has its share", () => third.alive && settled());
    const earlier = members.map(({ items }) => items.length);
    // This producer has not heard yet that the topic grew; the next one asks.
    await publish("where they were");
    await publish("where they are", queues.open(kafka.brokers, { partitions: partitionsBefore }).queue);
    const since = () => members.map(({ items }, at) => items.slice(earlier[at]));
    const newest = () => since().flat()
      .filter((item) => item.kind === "first" && item.eventId.startsWith("where they are"));
    await until("the newest came", () => newest().length === destinations.length);
    const strangers = since().flatMap((items, at) => items.filter((item) => !members[at]?.owns(item.destinationId)));
    expect(strangers).to.deep.equal([]);
    expect(since().flat().length).to.be.lessThan(2 * destinations.length);
  });

  it("leaves each destination with one owner, also for members that joined before", async () => {
    await join();
    await until("the first has all", () => destinations.every((id) => owners(id) === 1));
    await join();
    await until("both have a share", () =>
      members.every((member) => destinations.some((id) => member.owns(id))) && settled());
    await grow();
    const third = await join();
    await until("the third has its share", () => third.alive && settled());
    const owned = destinations.map(owners);
    expect(owned).to.deep.equal(destinations.map(() => 1));
  });
});
