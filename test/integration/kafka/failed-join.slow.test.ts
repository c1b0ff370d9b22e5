import { createRequire } from "node:module";
import { expect } from "chai";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

type Request = (...args: unknown[]) => Promise<unknown>;
type Requests = Record<"fetch" | "joinGroup", Request>;

const require = createRequire(import.meta.url);
/** Internals of the driver: its requests to a broker, and the error that it throws for a refusal. */
const broker = (require("kafkajs/src/broker") as { readonly prototype: Requests }).prototype;
const { KafkaJSProtocolError: Refused } = require("kafkajs/src/errors") as {
  readonly KafkaJSProtocolError: new (error: object) => Error;
};

describe("Kafka with a group that refuses one join", function () {
  this.timeout(90_000);
  const own: Requests = { fetch: broker.fetch, joinGroup: broker.joinGroup };
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;

  before(async function () {
    kafka = await kafkaOrSkip(this);
    queues = new KafkaQueues();
  });
  after(async () => {
    Object.assign(broker, own);
    await queues.close();
  });

  /** The driver's next request of this kind is refused. */
  function refuseNext(request: keyof Requests, error: object): Promise<void> {
    const { promise: refused, resolve } = Promise.withResolvers<void>();
    broker[request] = async () => {
      broker[request] = own[request];
      resolve();
      throw new Refused({ retriable: true, ...error });
    };
    return refused;
  }

  it("joins again, though the driver ignores the refused join", async () => {
    const { queue, log } = queues.open(kafka.brokers);
    const recorder = new WorkRecorder();
    await queue.consume(recorder);
    await until("it has a share", () => recorder.alive);
    // As after a leader that moved, where the group's coordinator is not there again yet.
    const joined = refuseNext("joinGroup", { type: "GROUP_LOAD_IN_PROGRESS", code: 14 });
    await refuseNext("fetch", { type: "NOT_LEADER_FOR_PARTITION", code: 6 });
    await joined;
    await until("the session is over", () => !recorder.alive);
    await queue.publish([firstAttempt("1", { destinationId: "d" })]);
    await until("what is published is taken all the same", () => recorder.eventIds.includes("1"));
    expect(recorder.alive).to.equal(false);
    await until("it has a share again", () => recorder.alive);
    const lost = log.filter(({ message }) => message.includes("membership lost"));
    expect(lost.map(({ fields }) => String((fields as { err: Error }).err))).to.deep.equal([
      "Error: the group was silent, or no join succeeded, for 12000 ms",
    ]);
  });
});
