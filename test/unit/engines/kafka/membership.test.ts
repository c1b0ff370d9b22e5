import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { ConsumerConfig, EachBatchPayload, Kafka } from "kafkajs";
import { Membership } from "../../../../src/engines/kafka/membership.ts";
import { encodeItem, partitionOf } from "../../../../src/engines/kafka/messages.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { firstAttempt, WorkRecorder } from "../../../support/work-recorder.ts";

const topic = "relay.work";
const count = 4;
/** One destination for each partition. */
const destinations = Array.from({ length: count }, (_, partition) => {
  for (let number = 0; ; number++) if (partitionOf(`d${number}`, count) === partition) return `d${number}`;
});

const names = ["REQUEST", "HEARTBEAT", "REBALANCING", "GROUP_JOIN", "CRASH"] as const;
type Name = (typeof names)[number];

/** A consumer of the driver, controlled by the test. */
class ScriptedConsumer {
  readonly events = Object.fromEntries(names.map((name) => [name, name]));
  readonly committed: { partition: number; offset: string }[] = [];
  disconnected = 0;
  commits: "kept" | "refused" = "kept";
  #eachBatch: ((payload: EachBatchPayload) => Promise<void>) | undefined;
  readonly #listeners = new Map<string, (event: { payload: object }) => void>();
  readonly #config: ConsumerConfig;

  constructor(config: ConsumerConfig) {
    this.#config = config;
  }

  on(name: string, listener: (event: { payload: object }) => void): void {
    this.#listeners.set(name, listener);
  }

  async connect(): Promise<void> {}
  async subscribe(): Promise<void> {}
  async run({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }): Promise<void> {
    this.#eachBatch = eachBatch;
  }

  async commitOffsets(offsets: { partition: number; offset: string }[]): Promise<void> {
    if (this.commits === "refused") throw new Error("the coordinator knows no such member");
    this.committed.push(...offsets);
  }

  async disconnect(): Promise<void> {
    this.disconnected += 1;
  }

  emit(name: Name, payload: object = {}): void {
    this.#listeners.get(name)?.({ payload });
  }

  /** Acts like the driver before it sends a join; returns the partitions that the member claims. */
  asksToJoin(): readonly number[] {
    const cluster = { findTopicPartitionMetadata: () => destinations.map((_, partitionId) => ({ partitionId })) };
    const [assigner] = this.#config.partitionAssigners ?? [];
    const { metadata } = assigner!({ cluster } as never).protocol({ topics: [topic] });
    return JSON.parse(/\[.*\]/.exec(metadata.toString())?.[0] ?? "") as number[];
  }

  joins(memberId: string, partitions: readonly number[], ageMs = 0): void {
    this.asksToJoin();
    this.emit("REQUEST", { apiName: "SyncGroup", duration: ageMs });
    this.emit("GROUP_JOIN", { memberId, memberAssignment: { [topic]: partitions } });
  }

  heartbeat(ageMs = 0): void {
    this.emit("REQUEST", { apiName: "Heartbeat", duration: ageMs });
    this.emit("REQUEST", { apiName: "Fetch", duration: 199 });
    this.emit("HEARTBEAT");
  }

  /** Hands a batch of one message to the program; returns the offset that it resolved. */
  async fetches(partition: number, offset: string): Promise<string | undefined> {
    let resolved: string | undefined;
    const value = encodeItem(firstAttempt(offset, { destinationId: destinations[partition]! }));
    const batch = { topic, partition, messages: [{ value, offset }], lastOffset: () => offset };
    await this.#eachBatch?.({ batch, resolveOffset: (last: string) => { resolved = last; } } as EachBatchPayload);
    return resolved;
  }
}

describe("a member of the group", () => {
  let clock: ManualClock;
  let consumer: ScriptedConsumer;
  let recorder: WorkRecorder;
  let membership: Membership;
  let over: Promise<Error>;
  let cuts: number;
  const owned = () => destinations.filter((id) => recorder.owns(id));

  beforeEach(async () => {
    clock = new ManualClock();
    recorder = new WorkRecorder();
    const nothing = () => undefined;
    const makeConsumer = (config: ConsumerConfig) => (consumer = new ScriptedConsumer(config));
    const driver = { consumer: makeConsumer } as unknown as Kafka;
    cuts = 0;
    membership = new Membership({
      connect: () => ({ kafka: driver, cut: () => { cuts += 1; } }), topic, groupId: "relay.delivery", clock,
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing }, metrics: { anomaly: nothing },
    }, recorder);
    over = membership.live();
    await turn();
  });

  it("owns its assigned partitions from its join on", () => {
    expect(owned()).to.deep.equal([]);
    consumer.joins("m", [1, 3]);
    expect(owned()).to.deep.equal([destinations[1], destinations[3]]);
  });

  it("owns nothing from before a join is sent until it is answered, and claims its earlier partitions", () => {
    consumer.joins("m", [2, 1]);
    expect(consumer.asksToJoin()).to.deep.equal([1, 2]);
    expect(owned()).to.deep.equal([]);
    consumer.heartbeat();
    expect(owned()).to.deep.equal([]);
    consumer.emit("GROUP_JOIN", { memberId: "m", memberAssignment: { [topic]: [2] } });
    expect(owned()).to.deep.equal([destinations[2]]);
  });

  it("owns nothing from the first sign of a rebalance", () => {
    consumer.joins("m", [0]);
    consumer.emit("REBALANCING");
    expect(owned()).to.deep.equal([]);
  });

  it("owns nothing once the group may have reassigned its share, counted from when a request was sent", () => {
    consumer.joins("m", [0], 1_500);
    clock.advance(3_400);
    expect(owned()).to.have.length(1);
    clock.advance(200);
    expect(owned()).to.deep.equal([]);
    consumer.joins("m", [0]);
    clock.advance(4_000);
    consumer.heartbeat(1_500);
    clock.advance(3_400);
    expect(owned()).to.have.length(1);
    clock.advance(200);
    expect(owned()).to.deep.equal([]);
    consumer.heartbeat();
    expect(owned()).to.have.length(1);
  });

  it("keeps through a rebalance the partitions assigned to it again, in one step", () => {
    consumer.joins("m", [0, 1]);
    const before = recorder.reassignments;
    consumer.joins("m", [1, 2]);
    expect(recorder.reassignments).to.equal(before + 1);
    expect(owned()).to.deep.equal([destinations[1], destinations[2]]);
  });

  it("first loses all partitions when the group had removed it: others may have owned them meanwhile", () => {
    consumer.joins("m", [0, 1]);
    const told: boolean[][] = [];
    recorder.reassign = (isLost) => { told.push(destinations.map(isLost)); };
    consumer.joins("another id", [0, 1]);
    expect(told).to.deep.equal([[true, true, true, true], [false, false, true, true]]);
  });

  it("takes no batch of a partition that it no longer owns", async () => {
    consumer.joins("m", [0, 1]);
    consumer.joins("m", [1]);
    expect(await consumer.fetches(0, "5")).to.equal(undefined);
    expect(await consumer.fetches(1, "6")).to.equal("6");
    expect(recorder.eventIds).to.deep.equal(["6"]);
  });

  it("commits the offsets of taken messages soon", async () => {
    consumer.joins("m", [0, 1]);
    await consumer.fetches(0, "9007199254740993");
    await consumer.fetches(1, "7");
    clock.advance(1_000);
    await turn();
    expect(consumer.committed).to.deep.include.members([
      { topic, partition: 0, offset: "9007199254740994" }, { topic, partition: 1, offset: "8" },
    ]);
  });

  it("commits the offsets of taken messages before it joins again and before it leaves", async () => {
    consumer.joins("m", [0]);
    await consumer.fetches(0, "1");
    consumer.emit("REBALANCING");
    expect(consumer.committed).to.deep.equal([{ topic, partition: 0, offset: "2" }]);
    consumer.joins("m", [0]);
    await consumer.fetches(0, "2");
    await membership.leave();
    expect(consumer.committed.at(-1)).to.deep.equal({ topic, partition: 0, offset: "3" });
  });

  it("retries a refused commit, unless it took more messages or joined again meanwhile", async () => {
    consumer.joins("m", [0, 1]);
    consumer.commits = "refused";
    await consumer.fetches(0, "1");
    await consumer.fetches(1, "1");
    consumer.emit("REBALANCING");
    await consumer.fetches(1, "2");
    await turn();
    consumer.commits = "kept";
    clock.advance(1_000);
    const offsets = consumer.committed.map(({ partition, offset }) => `${partition}: ${offset}`);
    expect(offsets).to.have.members(["0: 2", "1: 3"]);

    consumer.committed.length = 0;
    consumer.commits = "refused";
    await consumer.fetches(0, "5");
    consumer.emit("REBALANCING");
    consumer.joins("m", [1]);
    await turn();
    consumer.commits = "kept";
    clock.advance(1_000);
    expect(consumer.committed).to.deep.equal([]);
  });

  it("leaves even if a commit is refused", async () => {
    consumer.joins("m", [0]);
    await consumer.fetches(0, "1");
    consumer.commits = "refused";
    await membership.leave();
    expect(consumer.disconnected).to.equal(1);
  });

  it("ends when the driver's consumer crashes, and then owns and takes nothing", async () => {
    consumer.joins("m", [0]);
    const lost: boolean[][] = [];
    recorder.reassign = (isLost) => { lost.push(destinations.map(isLost)); };
    consumer.emit("CRASH", { error: new Error("no broker") });
    expect((await over).message).to.equal("no broker");
    expect(consumer.disconnected).to.equal(1);
    expect(cuts).to.equal(1);
    expect(lost).to.deep.equal([[true, true, true, true]]);
    expect(recorder.sessions.map(({ alive }) => alive)).to.not.include(true);
    expect(owned()).to.deep.equal([]);
    expect(await consumer.fetches(0, "5")).to.equal(undefined);
    consumer.joins("m", [0]);
    expect(owned()).to.deep.equal([]);
    expect(recorder.items).to.deep.equal([]);
  });

  it("ends when the group has not answered for long, not before", async () => {
    let ended = false;
    void over.then(() => { ended = true; });
    consumer.joins("m", [0]);
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000);
      consumer.heartbeat();
    }
    for (let second = 0; second < 11; second++) clock.advance(1_000);
    await turn();
    expect(ended).to.equal(false);
    clock.advance(1_000);
    clock.advance(1_000);
    await over;
  });

  it("ends when a join does not succeed in time, even if the group goes on answering", async () => {
    let reason: Error | undefined;
    void over.then((error) => { reason = error; });
    consumer.joins("m", [0]);
    consumer.asksToJoin();
    const secondWithHeartbeat = async () => {
      clock.advance(1_000);
      consumer.heartbeat();
      await turn();
    };
    for (let second = 0; second < 12; second++) await secondWithHeartbeat();
    expect(reason).to.equal(undefined);
    await secondWithHeartbeat();
    expect(reason?.message).to.include("no join succeeded");
  });
});
