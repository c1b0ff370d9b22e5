import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { QueueUnavailable, type WorkQueue } from "../../../src/kernel/ports/work-queue.ts";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues, type OpenedQueue } from "../../support/kafka-queues.ts";
import { sized } from "../../support/size.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

const destinations = Array.from({ length: 12 }, (_, index) => `destination-${index}`);
const healsWithinMs = 30_000;
const awayMs = sized(1_000, 20_000);

/** Publishes without end, as the forwarder does: unacknowledged items are published again. */
class Load {
  acknowledged = 0;
  rejected = 0;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(queue: WorkQueue) {
    this.#running = this.#run(queue);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(queue: WorkQueue): Promise<void> {
    while (!this.#stopped) {
      const first = this.acknowledged;
      const items = destinations.map((destinationId, index) => firstAttempt(String(first + index), { destinationId }));
      try {
        await queue.publish(items);
        this.acknowledged += items.length;
      } catch (error) {
        if (!(error instanceof QueueUnavailable)) throw error;
        this.rejected += 1;
      }
      await sleep(5);
    }
  }
}

describe("Kafka with a broker that fails under load", function () {
  this.timeout(sized(120_000, 300_000));
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;
  let opened: OpenedQueue[];
  let recorders: WorkRecorder[];
  let load: Load;

  before(async function () {
    kafka = await kafkaOrSkip(this);
    if (!kafka.breakable) this.skip();
  });

  beforeEach(async () => {
    queues = new KafkaQueues();
    opened = [queues.open(kafka.brokers), queues.open(kafka.brokers)];
    recorders = [];
    for (const { queue } of opened) {
      const recorder = new WorkRecorder();
      recorders.push(recorder);
      await queue.consume(recorder);
    }
    await until("all have a share", () => recorders.every(({ alive }) => alive));
    load = new Load(opened[0]!.queue);
    await until("it goes well", () => load.acknowledged > 200 && taken().size > 200);
  });

  afterEach(async () => {
    await load.stop();
    await kafka.stop();
    await queues.close();
  });

  const taken = () => new Set(recorders.flatMap(({ eventIds }) => eventIds));
  const pings = (): Promise<string> => opened[1]!.queue.ping().then(() => "answers", (error: unknown) => {
    expect(error).to.be.instanceOf(QueueUnavailable);
    return "away";
  });

  /** From a fault's end: both members have a share and take new items. No acknowledged item is missing then. */
  async function heals(): Promise<void> {
    const from = performance.now();
    const before = load.acknowledged;
    await until("what is published now is acknowledged", () => load.acknowledged > before + 100);
    await until("all have a share", () => recorders.every(({ alive }) => alive));
    await until("what is published now is taken", () => taken().has(String(load.acknowledged - 1)));
    const healedMs = performance.now() - from;
    expect(healedMs).to.be.below(healsWithinMs);
    expect(await pings()).to.equal("answers");
    await load.stop();
    await until("all that was acknowledged is taken", () => taken().size >= load.acknowledged);
    const ids = taken();
    const missing = Array.from({ length: load.acknowledged }, (_, id) => String(id)).filter((id) => !ids.has(id));
    expect(missing).to.deep.equal([]);
    console.log(`      healed in ${Math.round(healedMs)} ms; ${load.acknowledged} acknowledged, none missing`);
  }

  it("recovers from kill -9 and a restart, and logs the lost membership once, not with every try", async () => {
    await kafka.kill();
    await until("nobody is a member", () => recorders.every(({ alive }) => !alive));
    expect(await pings()).to.equal("away");
    await sleep(awayMs);
    await kafka.restart();
    await heals();
    expect(load.rejected).to.be.above(0);
    for (const { log } of opened) {
      const lines = log.filter(({ level, message }) => level !== "debug" && message.includes("membership lost"));
      expect(lines).to.have.length(1);
      expect(log.filter(({ level }) => level === "error")).to.deep.equal([]);
    }
  });

  it("recovers from a freeze that is longer than a session", async () => {
    await kafka.freeze();
    await until("nobody is a member", () => recorders.every(({ alive }) => !alive));
    expect(await pings()).to.equal("away");
    await until("publications are rejected", () => load.rejected > 0);
    await sleep(awayMs);
    await kafka.thaw();
    await heals();
  });

  it("recovers from a short freeze", async () => {
    await kafka.freeze();
    await sleep(2_000);
    await kafka.thaw();
    await heals();
  });
});
