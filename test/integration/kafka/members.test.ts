import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { OwnershipWatch, overlap } from "../../support/ownership.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";
import type { ConsumerOrder, ConsumerState } from "./consumer-process.ts";

const program = fileURLToPath(new URL("consumer-process.ts", import.meta.url));
const destinations = Array.from({ length: 12 }, (_, index) => `destination-${index}`);
const partitions = 6;

/** A consumer in a process of its own. */
class OtherMember {
  readonly #child: ChildProcess;

  constructor(order: ConsumerOrder) {
    this.#child = fork(program, { execArgv: ["--disable-warning=TimeoutNegativeWarning"] });
    this.#child.send(order);
  }

  async state(): Promise<ConsumerState> {
    const answer = once(this.#child, "message");
    this.#child.send("state");
    return ((await answer) as [ConsumerState])[0];
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}

describe("Kafka with members that fall silent", function () {
  this.timeout(90_000);
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;
  let other: OtherMember;
  let recorder: WorkRecorder;
  let watch: OwnershipWatch;
  let publish: (round: number) => Promise<void>;

  before(async function () { kafka = await kafkaOrSkip(this); });

  beforeEach(async () => {
    queues = new KafkaQueues();
    const { queue } = queues.open(kafka.brokers, { partitions });
    publish = (round) => queue.publish(destinations.map((id) => firstAttempt(`${id}/${round}`, { destinationId: id })));
    recorder = new WorkRecorder();
    watch = new OwnershipWatch(recorder, destinations);
    await queue.consume(recorder);
    other = new OtherMember({ brokers: kafka.brokers, topicPrefix: queues.prefix, partitions, destinations });
    await until("both have a share", shared);
    await publish(0);
    await until("all is taken", async () => recorder.items.length + (await other.state()).eventIds.length >= 12);
  });

  afterEach(async () => {
    watch.stop();
    await other.end();
    await queues.close();
  });

  async function shared(): Promise<boolean> {
    const { owned } = await other.state();
    return owned.length > 0 && recorder.alive && destinations.every((id) => recorder.owns(id) !== owned.includes(id));
  }

  const ownsAll = () => destinations.every((id) => recorder.owns(id));

  it("gives the share and the items of a killed member to the others within its session timeout", async () => {
    other.signal("SIGKILL");
    const from = performance.now();
    await publish(1);
    await until("the one left owns all", ownsAll);
    expect(performance.now() - from).to.be.below(15_000);
    await until("it has all of the second round", () =>
      destinations.every((id) => recorder.eventIds.includes(`${id}/1`)));
  });

  it("lets a stopped member start nothing after it resumes, until it has a share again", async () => {
    other.signal("SIGSTOP");
    await until("the other owns all", ownsAll);
    await publish(1);
    await until("it has all of the second round", () =>
      destinations.every((id) => recorder.eventIds.includes(`${id}/1`)));
    other.signal("SIGCONT");
    await until("both have a share", shared);
    const { spans } = await other.state();
    for (const id of destinations) expect(overlap(spans[id] ?? [], watch.spans[id] ?? []), id).to.equal(false);
    await publish(2);
    await until("the third round is taken", async () => {
      const taken = new Set([...recorder.eventIds, ...(await other.state()).eventIds]);
      return destinations.every((id) => taken.has(`${id}/2`));
    });
  });
});
