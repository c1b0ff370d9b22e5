import { expect } from "chai";
import fc from "fast-check";
import { fingerprint } from "../../../projections/index.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import type { LogEntry, Position } from "../../../src/kernel/ports/event-store.ts";
import { ReadModelsUnavailable, type PositionedChanges } from "../../../src/kernel/ports/read-models.ts";
import type { ProjectionParts } from "../../../src/projector/projection-run.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import type { Told } from "../../support/chronicle.ts";
import { histories, History } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { position } from "../../support/position.ts";
import { projectorOf } from "../../support/projector.ts";
import { quiet } from "../../support/telemetry.ts";
import { WrittenLog } from "../../support/written-log.ts";

/** Read models whose writes a test may count and let fail. */
class WatchedReadModels extends InMemoryReadModels {
  readonly batches: PositionedChanges[][] = [];
  /** How the next calls fail: before or after the write. */
  readonly failures: ("before" | "after")[] = [];
  resets = 0;

  override async apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    const failure = this.failures.shift();
    if (failure === "before") throw new ReadModelsUnavailable("down");
    await super.apply(batch, checkpoint);
    this.batches.push([...batch]);
    if (failure === "after") throw new ReadModelsUnavailable("no answer");
  }

  override async reset(...args: Parameters<InMemoryReadModels["reset"]>): Promise<void> {
    this.resets += 1;
    await super.reset(...args);
  }
}

/** Waits until only timers are pending. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("projection runner", () => {
  let log: WrittenLog;
  let models: WatchedReadModels;
  let clock: ManualClock;
  let anomalies: string[];
  let lines: string[];
  let runners: ProjectionRunner[];

  beforeEach(() => {
    log = new WrittenLog();
    models = new WatchedReadModels();
    clock = new ManualClock();
    anomalies = [];
    lines = [];
    runners = [];
  });

  afterEach(() => Promise.all(runners.map((runner) => runner.stop())));

  function newRunner(parts: Partial<ProjectionParts> = {}): ProjectionRunner {
    const metrics = { anomaly: (kind: string) => anomalies.push(kind) };
    const line = (_: object, text: string) => lines.push(text);
    const logger = { ...quiet, info: line, warn: line };
    const runner = projectorOf({ log, models, clock, metrics, logger, batchDelayMs: 200, ...parts });
    runners.push(runner);
    return runner;
  }

  const step = (action: string, number = 1) => ({ action, which: 0, number, after: 1000 });
  /** Two tenants with an owner each, a destination and an API key. */
  const beginning = [step("registerDestination"), step("issueKey")];
  const told = (...actions: string[]) => new History([...beginning, ...actions.map((action) => step(action))]).told;
  /** The ids of the accepted events, in that order. */
  const eventIdsOf = (all: readonly Told[]) =>
    all.flatMap(({ fact: { type, data } }) =>
      type === "EventAccepted" ? [(data as { readonly eventId: string }).eventId] : []);
  const [eventId = ""] = eventIdsOf(told("accept"));
  const statusOf = async (id = eventId) => (await models.get("events", id))?.["status"];

  it("projects the entries of the log, then new ones", async () => {
    const all = told("accept", "startAttempt", "succeed");
    log.write(all.slice(0, -2));
    const runner = newRunner();
    runner.start();
    await runner.drained(await log.head());
    expect(await statusOf()).to.equal("Pending");
    log.write(all.slice(-2));
    await runner.drained(await log.head());
    expect(await statusOf()).to.equal("Succeeded");
    expect(await models.checkpoint()).to.equal(await log.head());
  });

  it("lets a small batch wait for more entries, so that related ones fold", async () => {
    const all = told("accept", "startAttempt", "succeed");
    log.write(all.slice(0, -3));
    const runner = newRunner();
    runner.start();
    await settled();
    const before = models.batches.length;
    for (const one of all.slice(-3)) {
      log.write([one]);
      await settled();
    }
    expect(models.batches.length).to.equal(before);
    clock.advance(200);
    await settled();
    expect(models.batches.length).to.equal(before + 1);
    clock.advance(200);
    await settled();
    expect(models.batches.slice(before).map((batch) => batch.length)).to.deep.equal([1, 2]);
    expect(await statusOf()).to.equal("Succeeded");
  });

  it("projects entries without delay up to a position that a reader waits for", async () => {
    const all = told("accept", "startAttempt", "succeed");
    log.write(all.slice(0, -3));
    const runner = newRunner();
    runner.start();
    await settled();
    log.write(all.slice(-3, -2));
    await settled();
    expect(await statusOf()).to.equal(undefined);
    runner.flush(position(all.length - 1));
    await settled();
    expect(await statusOf()).to.equal("Pending");
    log.write(all.slice(-2, -1));
    await settled();
    expect(await statusOf()).to.equal("Processing");
    log.write(all.slice(-1));
    await settled();
    expect(await statusOf()).to.equal("Processing");
  });

  it("reads page by page when behind, and projects several pages as one batch", async () => {
    log.write(told("accept", ...Array.from({ length: 700 }, () => "newSecret"), "startAttempt", "succeed"));
    const limits: number[] = [];
    const read = log.readLog.bind(log);
    log.readLog = async (after, limit) => {
      limits.push(limit);
      return read(after, limit);
    };
    const runner = newRunner();
    await runner.rebuild();
    expect(Math.max(...limits)).to.be.at.most(500);
    expect(models.batches.length).to.equal(1);
    expect(models.batches[0]!.at(-1)!.position).to.equal(await log.head());
    expect(await models.checkpoint()).to.equal(await log.head());
  });

  it("covers deleted entries at the end of the log", async () => {
    log.write(told("accept", "startAttempt"));
    const read = log.readLog.bind(log);
    log.readLog = async (after, limit) => {
      const { entries, upTo } = await read(after, limit);
      return { entries: entries.filter(({ type }) => type !== "DeliveryAttemptStarted"), upTo };
    };
    await newRunner().rebuild();
    expect(await models.checkpoint()).to.equal(await log.head());
    expect(await statusOf()).to.equal("Pending");
  });

  it("drops a batch when stopped while reading it, and reads it again", async () => {
    log.write(told("accept", ...Array.from({ length: 700 }, () => "newSecret")));
    const runner = newRunner();
    const read = log.readLog.bind(log);
    let reads = 0;
    log.readLog = async (after, limit) => {
      reads += 1;
      if (reads === 2) log.failing = Infinity;
      return read(after, limit);
    };
    runner.start();
    await settled();
    await runner.stop();
    expect(models.batches).to.deep.equal([]);
    log.failing = 0;
    runner.start();
    await runner.drained(await log.head());
    const again = new WatchedReadModels();
    await newRunner({ readModels: again }).rebuild();
    expect(models.contents()).to.deep.equal(again.contents());
  });

  it("resumes at its checkpoint", async () => {
    const all = told("accept", "startAttempt", "succeed");
    log.write(all.slice(0, -1));
    const first = newRunner();
    first.start();
    await first.drained(await log.head());
    await first.stop();
    const before = models.batches.length;
    log.write(all.slice(-1));
    const second = newRunner();
    second.start();
    await second.drained(await log.head());
    expect(models.batches.slice(before).map((batch) => batch.length)).to.deep.equal([1]);
    expect(models.resets).to.equal(1);
    expect(await statusOf()).to.equal("Succeeded");
  });

  it("rebuilds the read models under other definitions", async () => {
    log.write(told("accept"));
    await models.reset([], "another");
    await models.apply([], await log.head());
    const runner = newRunner();
    runner.start();
    await runner.drained(await log.head());
    expect(await models.state()).to.deep.equal({ checkpoint: await log.head(), fingerprint });
    expect(await statusOf()).to.equal("Pending");
    await settled();
    const again = "the read models are of another version: building them again";
    expect(lines).to.deep.equal([again, "the read models are built: lists answer from them"]);
  });

  it("rebuilds the read models when the log ends before the checkpoint", async () => {
    const all = told("accept", "startAttempt", "succeed");
    log.write(all);
    const first = newRunner();
    first.start();
    await first.drained(await log.head());
    await first.stop();
    log.entries.length = all.length - 1;
    const second = newRunner();
    second.start();
    await settled();
    expect(models.resets).to.equal(2);
    expect(await models.checkpoint()).to.equal(position(all.length - 1));
    expect(await statusOf()).to.equal("Processing");
    expect(lines).to.include("the read models are of a log that went further: building them again");
  });

  it("rebuilds the same contents on demand", async () => {
    log.write(told("accept", "startAttempt", "fail", "accept"));
    const first = newRunner();
    first.start();
    await first.drained(await log.head());
    await first.stop();
    const before = structuredClone(models.contents());
    await newRunner().rebuild();
    expect(models.resets).to.equal(2);
    expect(models.contents()).to.deep.equal(before);
  });

  for (const failure of ["before", "after"] as const) {
    it(`tries the same batch again when the writer fails ${failure} the write`, async () => {
      const all = told("accept", "startAttempt", "succeed", "accept");
      log.write(all);
      models.failures.push(failure, failure, failure);
      const runner = newRunner();
      runner.start();
      const pauses: number[] = [];
      for (let retry = 0; retry < 3; retry += 1) {
        await settled();
        expect(clock.pending).to.have.length(1);
        pauses.push(...clock.pending);
        clock.advance(clock.pending[0]!);
      }
      await runner.drained(await log.head());
      expect(pauses).to.deep.equal([50, 100, 200]);
      expect(anomalies).to.deep.equal(["projection", "projection", "projection"]);
      const plain = new WatchedReadModels();
      const other = newRunner({ readModels: plain });
      other.start();
      await other.drained(await log.head());
      expect(models.contents()).to.deep.equal(plain.contents());
    });
  }

  it("waits for an unavailable log", async () => {
    log.write(told("accept"));
    log.failing = 2;
    const runner = newRunner();
    runner.start();
    for (let retry = 0; retry < 2; retry += 1) {
      await settled();
      clock.advance(5_000);
    }
    await runner.drained(await log.head());
    expect(await statusOf()).to.equal("Pending");
  });

  it("stops between its tries, and leaves the rest for the next start", async () => {
    log.write(told("accept"));
    models.failures.push(...Array.from({ length: 10 }, () => "before" as const));
    const runner = newRunner();
    runner.start();
    await settled();
    await runner.stop();
    expect(await models.checkpoint()).to.equal("");
    models.failures.length = 0;
    runner.start();
    await runner.drained(await log.head());
    expect(await statusOf()).to.equal("Pending");
  });

  it("projects the entries as prepared by `prepare`, and calls it again when it fails", async () => {
    let asked = 0;
    const prepare = async (entries: readonly LogEntry[]) => {
      asked += 1;
      if (asked === 1) throw new Error("not now");
      return entries.map((entry) =>
        entry.type === "UserCreated" && entry.unreadable === undefined
          ? { ...entry, data: { ...entry.data, email: "clear" } }
          : entry,
      );
    };
    log.write(told());
    const runner = newRunner({ prepare });
    runner.start();
    await settled();
    clock.advance(50);
    await runner.drained(await log.head());
    const users = Object.values(models.contents().documents["users"] ?? {});
    expect(users.map(({ email }) => email)).to.deep.equal(["clear", "clear"]);
  });

  describe("with an unreadable entry", () => {
    const lives = () => {
      const all = told("accept", "startAttempt", "succeed");
      const other = new History([
        ...beginning,
        step("accept"),
        step("accept"),
        ...[0, 1].map(() => ({ ...step("startAttempt"), which: 1 })),
      ]);
      return { before: all.slice(0, -1), outcome: all.slice(-1), neighbour: other.told.slice(-2) };
    };
    const asideOf = async () =>
      models.find({ collection: "quarantine", order: { field: "stream", descending: false }, limit: 9 });

    it("quarantines the stream from there on, and no other", async () => {
      const { before, outcome, neighbour } = lives();
      log.write(before);
      log.write([{ stream: streams.event(eventId), fact: { type: "DeliveryRegretted", data: {} } }], "unknown type");
      log.write(outcome);
      log.write(neighbour);
      const runner = newRunner();
      runner.start();
      await runner.drained(await log.head());
      expect(await statusOf()).to.equal("Processing");
      expect(await statusOf(eventIdsOf(neighbour)[0])).to.equal("Processing");
      const why = { type: "DeliveryRegretted", reason: "unknown type", newer: false };
      expect(await asideOf()).to.deep.equal([{ stream: streams.event(eventId), revision: 2, ...why }]);
      expect(anomalies).to.deep.equal(["stream set aside"]);
    });

    it("removes its event from the due index, with open attempts", async () => {
      const { before } = lives();
      log.write(before);
      const runner = newRunner();
      runner.start();
      await runner.drained(await log.head());
      expect(models.contents().documents["leases"]).to.have.keys(`${eventId}:1`);
      log.write([{ stream: streams.event(eventId), fact: { type: "DeliveryRegretted", data: {} } }], "unknown type");
      await runner.drained(await log.head());
      expect(models.contents().documents["leases"]).to.deep.equal({});
      expect(models.contents().documents["waiting"]).to.deep.equal({});
    });

    it("remembers the quarantine after a restart, and reports it again", async () => {
      const { before, outcome } = lives();
      log.write(before);
      log.write([{ stream: streams.event(eventId), fact: { type: "DeliveryRegretted", data: {} } }], "unknown type");
      const first = newRunner();
      first.start();
      await first.drained(await log.head());
      await first.stop();
      log.write(outcome);
      const second = newRunner();
      second.start();
      await second.drained(await log.head());
      expect(await statusOf()).to.equal("Processing");
      expect(anomalies).to.deep.equal(["stream set aside", "stream set aside"]);
    });

    it("drops its memory of read models that were lost while it began", async () => {
      log.write(lives().before);
      log.write([{ stream: streams.event(eventId), fact: { type: "DeliveryRegretted", data: {} } }], "unknown type");
      const first = newRunner();
      first.start();
      await first.drained(await log.head());
      await first.stop();
      const contents = structuredClone(models.contents());
      const find = models.find.bind(models);
      models.find = async (query) => {
        if (query.collection !== "purges") return find(query);
        models.find = find;
        await models.reset([], "another");
        throw new ReadModelsUnavailable("down");
      };
      const second = newRunner();
      second.start();
      await settled();
      clock.advance(50);
      await settled();
      expect(models.contents()).to.deep.equal(contents);
    });

    it("treats a fact that a projection fails on as unreadable", async () => {
      const { before, neighbour } = lives();
      log.write(before.slice(0, -1));
      log.write([
        { stream: streams.event(eventId), fact: { type: "DeliveryAttemptStarted", data: null as unknown as object } },
      ]);
      log.write(neighbour);
      const runner = newRunner();
      runner.start();
      await runner.drained(await log.head());
      expect(await statusOf()).to.equal("Pending");
      expect((await asideOf()).map(({ stream }) => stream)).to.deep.equal([streams.event(eventId)]);
      expect(await statusOf(eventIdsOf(neighbour)[0])).to.equal("Processing");
    });

    it("gives the same contents for any place of the entry and any cut of the log", async () => {
      await fc.assert(
        fc.asyncProperty(histories(60), fc.nat(), fc.nat(20), async (history, at, cut) => {
          const bad = at % history.told.length;
          const results = [];
          for (const live of [true, false]) {
            log = new WrittenLog();
            models = new WatchedReadModels();
            const writeUpTo = (from: number, to: number) => {
              for (let n = from; n < Math.min(to, history.told.length); n += 1) {
                log.write([history.told[n]!], n === bad ? "not JSON" : undefined);
              }
            };
            if (!live) writeUpTo(0, history.told.length);
            const runner = newRunner();
            runner.start();
            for (let n = 0; live && n < history.told.length; n += cut + 1) {
              writeUpTo(n, n + cut + 1);
              await runner.drained(await log.head());
            }
            await runner.drained(await log.head());
            await runner.stop();
            results.push(models.contents());
          }
          expect(results[0]).to.deep.equal(results[1]);
          expect(Object.keys(results[0]!.documents["quarantine"] ?? {})).to.deep.equal([history.told[bad]!.stream]);
        }),
        { numRuns: 20 },
      );
    });
  });
});
