import { expect } from "chai";
import type { ProcessRole } from "../../../src/main/config/config.ts";
import { EngineWatch, neededBy, readiness } from "../../../src/main/engine-watch.ts";
import type { WatchedEngine } from "../../../src/main/engines/settings.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { quiet } from "../../support/telemetry.ts";

describe("the watch over the engines", () => {
  let clock: ManualClock;
  let anomalies: string[];
  let away: Set<string>;
  /** Promises that engines wait for before they answer. */
  let answers: Map<string, Promise<void>>;
  let watch: EngineWatch;
  const engine = (name: string, more: Partial<WatchedEngine> = {}): WatchedEngine => ({
    name, ...more, ping: async () => {
      await answers.get(name);
      if (away.has(name)) throw new Error(`${name} is full`);
    },
  });
  const watched = [
    engine("log", { awayText: (why) => `the log cannot be written: ${String(why)}` }), engine("MongoDB"),
    engine("Kafka", { isQueue: true }),
  ];
  const needed = (role: ProcessRole) => neededBy(new Set([role]), watched);
  const ready = (role: ProcessRole) =>
    readiness({ needed: needed(role), watch, following: { isFollowed: true } });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  beforeEach(() => {
    clock = new ManualClock();
    anomalies = [];
    away = new Set();
    answers = new Map();
    watch = new EngineWatch(watched, {
      clock, logger: quiet, metrics: { anomaly: (kind) => anomalies.push(kind) },
    });
  });
  afterEach(() => watch.stop());

  it("reports unavailable engines, counts each outage once, and sees them come back", async () => {
    await watch.start(needed("api"));
    expect(ready("api")).to.equal(null);
    for (const name of ["log", "MongoDB", "Kafka"]) away.add(name);
    await pass(3);
    const log = "the log cannot be written: Error: log is full";
    expect(ready("api")).to.equal(`${log}, no answer from MongoDB`);
    expect(ready("delivery")).to.equal(`${log}, no answer from MongoDB, no answer from Kafka`);
    expect(anomalies).to.deep.equal(["engine away", "engine away", "engine away"]);
    away.clear();
    await pass(1);
    expect(ready("delivery")).to.equal(null);
  });

  it("lets a projector work without the queue, which it does not use", async () => {
    away.add("Kafka");
    await watch.start(needed("projector"));
    expect(ready("projector")).to.equal(null);
    expect(ready("sweeper")).to.equal("no answer from Kafka");
  });

  it("reports one engine while another does not answer", async () => {
    await watch.start(needed("api"));
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    answers.set("log", promise);
    await pass(1);
    away.add("MongoDB");
    await pass(1);
    expect(ready("api")).to.equal("no answer from MongoDB");
    away.clear();
    await pass(1);
    expect(ready("api")).to.equal(null);
    answer();
  });

  describe("that are outside of this process", () => {
    let answeredAt: number;
    let pings: number;
    const busy: WatchedEngine = {
      name: "EventStoreDB", answeredAt: () => answeredAt,
      ping: async () => {
        pings += 1;
        if (away.has("EventStoreDB")) throw new Error("late");
        answeredAt = clock.monotonic();
      },
    };
    const reason = () => readiness({ needed: [busy], watch, following: { isFollowed: true } });
    beforeEach(async () => {
      [answeredAt, pings] = [-Infinity, 0];
      watch = new EngineWatch([busy], { clock, logger: quiet, metrics: { anomaly: (kind) => anomalies.push(kind) } });
      await watch.start([busy]);
    });

    it("does not ping an engine that answers other requests", async () => {
      const before = pings;
      for (let second = 0; second < 20; second += 1) {
        clock.advance(500);
        answeredAt = clock.monotonic();
        clock.advance(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(pings).to.equal(before);
      expect(reason()).to.equal(null);
    });

    it("calls one present that pauses for six seconds, and one away within ten that is gone", async () => {
      away.add("EventStoreDB");
      for (let round = 0; round < 5; round += 1) {
        await pass(6);
        expect(reason()).to.equal(null);
        answeredAt = clock.monotonic();
      }
      await pass(9);
      expect(reason()).to.equal("no answer from EventStoreDB");
      expect(anomalies).to.deep.equal(["engine away"]);
      away.clear();
      await pass(1);
      expect(reason()).to.equal(null);
    });
  });

  it("waits for the needed engines at the start, for a minute", async () => {
    away.add("Kafka");
    await watch.start(needed("api"));
    await watch.stop();
    const another = new EngineWatch(watched, { clock, logger: quiet, metrics: { anomaly: () => undefined } });
    away.add("MongoDB");
    const starting = another.start(needed("delivery")).then(() => "started", String);
    await pass(30);
    away.delete("MongoDB");
    await pass(32);
    expect(await starting).to.equal("Error: Kafka cannot be reached");
    await another.stop();
  });

  it("does not wait for an unfit engine", async () => {
    const unfit = engine("MongoDB", { isUnfit: (reason) => String(reason).includes("full") });
    const another = new EngineWatch([unfit], { clock, logger: quiet, metrics: { anomaly: () => undefined } });
    away.add("MongoDB");
    expect(await another.start([unfit]).then(() => "started", String)).to.equal("Error: MongoDB is full");
    await another.stop();
  });
});
