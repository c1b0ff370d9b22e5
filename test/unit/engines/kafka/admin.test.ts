import { expect } from "chai";
import type { Admin } from "kafkajs";
import { ensureTopic, KafkaAdmin } from "../../../../src/engines/kafka/admin.ts";
import type { Line } from "../../../../src/engines/kafka/client.ts";
import { QueueUnavailable } from "../../../../src/kernel/ports/work-queue.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("requests to the brokers", () => {
  let clock: ManualClock;
  /** All connections begun: `made` settles when the connection is made or fails. */
  let lines: { made: PromiseWithResolvers<void>; isCut: boolean }[];
  let admin: KafkaAdmin;
  beforeEach(() => {
    clock = new ManualClock();
    lines = [];
    admin = new KafkaAdmin(() => {
      const line = { made: Promise.withResolvers<void>(), isCut: false };
      lines.push(line);
      const kafka = { admin: () => ({ connect: () => line.made.promise }) as Admin };
      return { kafka, cut: () => { line.isCut = true; } } as unknown as Line;
    }, clock);
  });

  const ping = () => admin.ask("ping", 1_000, async () => "pong");

  it("that time out before the connection is made leave it to the next request", async () => {
    const hasty = failureOf(ping());
    clock.advance(1_000);
    expect(await hasty).to.be.instanceOf(QueueUnavailable);
    lines[0]!.made.resolve();
    expect(await ping()).to.equal("pong");
    expect(lines.map(({ isCut }) => isCut)).to.deep.equal([false]);
  });

  it("use another connection after one could not be made, or gave no answer for seven seconds", async () => {
    const first = failureOf(ping());
    lines[0]!.made.reject(new Error("refused"));
    await first;
    for (let second = 1; second <= 7; second += 1) {
      const unanswered = failureOf(admin.ask("ping", 1_000, () => new Promise(() => undefined)));
      lines[1]!.made.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
      await unanswered;
    }
    const last = ping();
    lines[2]!.made.resolve();
    expect(await last).to.equal("pong");
    expect(lines.map(({ isCut }) => isCut)).to.deep.equal([true, true, false]);
  });

  it("keep a connection whose answers are late", async () => {
    for (let times = 0; times < 5; times += 1) {
      const answer = Promise.withResolvers<string>();
      const late = failureOf(admin.ask("ping", 1_000, () => answer.promise));
      lines[0]!.made.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(2_000);
      expect(await late).to.be.instanceOf(QueueUnavailable);
      answer.resolve("pong");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lines.map(({ isCut }) => isCut)).to.deep.equal([false]);
  });
});

describe("an existing topic", () => {
  const settings = { partitions: 4, replication: null, retentionMs: 1_000 };
  const told = async (describeConfigs: Admin["describeConfigs"]) => {
    const found: object[] = [];
    const driver = {
      listTopics: async () => ["relay.work"],
      fetchTopicMetadata: async () => ({ topics: [{ name: "relay.work", partitions: [0, 1, 2, 3] }] }),
      describeConfigs,
    } as unknown as Admin;
    await ensureTopic(driver, "relay.work", settings, { ...quiet, warn: (fields) => found.push(fields) });
    return found;
  };
  const having = (retentionMs: string) => async () => {
    const configEntries = Object.entries({
      "retention.ms": retentionMs, "cleanup.policy": "delete", "compression.type": "uncompressed",
    }).map(([configName, configValue]) => ({ configName, configValue }));
    return { resources: [{ configEntries }] } as unknown as Awaited<ReturnType<Admin["describeConfigs"]>>;
  };

  it("is used as it is, with a warning where its settings differ from the configuration", async () => {
    expect(await told(having("1000"))).to.deep.equal([]);
    expect(await told(having("9"))).to.deep.equal([{ topic: "relay.work", found: { "retention.ms": "9" } }]);
  });

  it("is used where its settings may not be read", async () => {
    expect(await told(() => Promise.reject(new Error("not authorized")))).to.deep.equal([]);
  });
});
