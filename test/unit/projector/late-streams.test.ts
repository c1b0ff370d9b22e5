import { expect } from "chai";
import fc from "fast-check";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { ReadModelsUnavailable, type Change } from "../../../src/kernel/ports/read-models.ts";
import type { ProjectionParts } from "../../../src/projector/projection-run.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import type { Told } from "../../support/chronicle.ts";
import { histories, History } from "../../support/histories.ts";
import { InMemoryReadModels, withoutMoments } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";
import { quiet } from "../../support/telemetry.ts";
import { WrittenLog } from "../../support/written-log.ts";

/** Read models whose amendments a test may count, or let fail. */
class AmendedReadModels extends InMemoryReadModels {
  readonly amendments: (readonly Change[])[] = [];
  /** How the next amendments fail: before or after they are written; `null`: not at all. */
  readonly failures: ("before" | "after" | null)[] = [];
  resets = 0;

  override async amend(changes: readonly Change[]): Promise<void> {
    const failure = this.failures.shift();
    if (failure === "before") throw new ReadModelsUnavailable("down");
    await super.amend(changes);
    this.amendments.push(changes);
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

describe("streams that wait for a newer release", () => {
  let log: WrittenLog;
  let models: AmendedReadModels;
  let clock: ManualClock;
  let anomalies: string[];
  let lines: { readonly level: string; readonly text: string; readonly fields: object }[];
  let runners: ProjectionRunner[];

  beforeEach(() => {
    log = new WrittenLog();
    models = new AmendedReadModels();
    clock = new ManualClock();
    anomalies = [];
    lines = [];
    runners = [];
  });

  afterEach(() => Promise.all(runners.map((runner) => runner.stop())));

  function newRunner(parts: Partial<ProjectionParts> = {}): ProjectionRunner {
    const metrics = { anomaly: (kind: string) => anomalies.push(kind) };
    const line = (level: string) => (fields: object, text: string) => lines.push({ level, text, fields });
    const logger = { ...quiet, info: line("info"), warn: line("warn"), error: line("error") };
    const runner = projectorOf({ log, models, clock, metrics, logger, ...parts });
    runners.push(runner);
    return runner;
  }

  /** Projects the whole log in a process of its own, which then ends. */
  async function project(parts: Partial<ProjectionParts> = {}): Promise<void> {
    const runner = newRunner(parts);
    runner.start();
    await runner.drained(await log.head());
    await settled();
    await runner.stop();
  }

  /** The contents after a projection of the whole log in its order. */
  async function inOrder(): Promise<ReturnType<InMemoryReadModels["contents"]>> {
    const plain = new InMemoryReadModels();
    await projectorOf({ log, models: plain, clock }).rebuild();
    return plain.contents();
  }

  const contentsOf = (name: string) => models.contents().documents[name] ?? {};
  const statusOf = async (id: string) => (await models.get("events", id))?.["status"];
  const step = (action: string, which = 0) => ({ action, which, number: 1, after: 1000 });
  const beginning = [step("registerDestination"), step("issueKey")];
  /** Two tenants, a destination and an API key, then actions on the first event. */
  const told = (...actions: string[]) => new History([...beginning, ...actions.map((action) => step(action))]).told;
  const facts = (all: readonly Told[], ...types: string[]) => all.filter(({ fact }) => types.includes(fact.type));
  const idIn = ({ fact }: Told) => (fact.data as { readonly eventId: string }).eventId;
  const others = (all: readonly Told[], some: readonly Told[]) => all.filter((one) => !some.includes(one));
  const noted = (id: string): Told => ({ stream: streams.event(id), fact: { type: "DeliveryNoted", data: {} } });
  /** An event that waits for its retry. */
  const retried = told("accept", "startAttempt", "fail");
  const eventId = idIn(retried.at(-1)!);

  it("wait with a warning, and do not hold up other streams", async () => {
    log.write(retried);
    log.writeNewer([noted(eventId)], "unknown type");
    const later = told("accept", "startAttempt", "fail", "accept").slice(-1);
    log.write(later);
    await project();
    expect(await statusOf(eventId)).to.equal("WaitingRetry");
    expect(await statusOf(idIn(later[0]!))).to.equal("Pending");
    expect(contentsOf("quarantine")).to.deep.equal({
      [streams.event(eventId)]: {
        stream: streams.event(eventId), revision: 4, type: "DeliveryNoted", reason: "unknown type", newer: true,
      },
    });
    expect(anomalies).to.deep.equal(["stream of a newer release"]);
    expect(lines.filter(({ level }) => level === "error")).to.deep.equal([]);
    const [line] = lines.filter(({ level }) => level === "warn");
    expect(line?.text).to.equal("a fact of a newer release: its stream waits for a process that can read it");
    expect(line?.fields).to.include({ stream: streams.event(eventId), type: "DeliveryNoted", revision: 4 });
  });

  it("are logged in a few lines, also when many wait, and counted at each start", async () => {
    const all = told("accept", "accept", "accept", "accept");
    const accepted = facts(all, "EventAccepted");
    log.write(others(all, accepted));
    log.writeNewer(accepted);
    const runner = newRunner();
    runner.start();
    await runner.drained(await log.head());
    clock.advance(10_000);
    const warned = () => lines.filter(({ level }) => level === "warn");
    expect(warned().map(({ text }) => text)).to.deep.equal([
      "a fact of a newer release: its stream waits for a process that can read it",
      "more streams wait for a process that can read them",
    ]);
    expect(warned()[1]?.fields).to.deep.equal({ what: "EventAccepted: unknown version 2", streams: 3 });
    await runner.stop();
    anomalies = [];
    await project();
    expect(anomalies).to.deep.equal(Array.from({ length: 4 }, () => "stream of a newer release"));
  });

  it("leave the due index, and return to it once they can be read", async () => {
    log.write(retried);
    await project();
    const due = contentsOf("waiting");
    expect(due).to.have.keys(eventId);
    log.writeNewer([noted(eventId)]);
    await project();
    expect(contentsOf("waiting")).to.deep.equal({});
    log.upgrade();
    await project();
    expect(contentsOf("waiting")).to.deep.equal(due);
  });

  it("remove an open attempt from the due index, and put it back unless it has ended", async () => {
    for (const outcome of [[], told("accept", "startAttempt", "succeed").slice(-1)]) {
      log = new WrittenLog();
      models = new AmendedReadModels();
      log.write(told("accept", "startAttempt"));
      await project();
      const due = contentsOf("leases");
      expect(due).to.have.keys(`${eventId}:1`);
      log.writeNewer([noted(eventId)]);
      log.write(outcome);
      await project();
      expect(contentsOf("leases")).to.deep.equal({});
      log.upgrade();
      await project();
      expect(contentsOf("leases")).to.deep.equal(outcome.length === 0 ? due : {});
    }
  });

  it("are projected by a release that can read them, which leaves the checkpoint unchanged", async () => {
    const all = told("accept", "startAttempt", "fail", "startAttempt", "succeed");
    const failed = facts(all, "DeliveryFailed");
    const at = all.indexOf(failed[0]!);
    log.write(all.slice(0, at));
    log.writeNewer(failed);
    log.write(all.slice(at + 1));
    await project();
    expect(await statusOf(eventId)).to.equal("Processing");
    const checkpoint = await models.checkpoint();
    log.upgrade();
    lines = [];
    await project();
    expect(models.contents()).to.deep.equal(await inOrder());
    expect(await statusOf(eventId)).to.equal("Succeeded");
    expect(await models.checkpoint()).to.equal(checkpoint);
    expect(models.resets).to.equal(1);
    expect(lines).to.deep.equal([
      { level: "info", text: "streams that waited for this release are projected", fields: { streams: 1 } },
    ]);
  });

  it("project each entry once, before or behind the checkpoint", async () => {
    const all = told("accept", "startAttempt", "fail", "startAttempt", "fail", "startAttempt", "succeed");
    const at = all.indexOf(facts(all, "DeliveryFailed")[0]!);
    for (let stopped = at + 1; stopped <= all.length; stopped += 1) {
      log = new WrittenLog();
      models = new AmendedReadModels();
      log.write(all.slice(0, at));
      log.writeNewer(all.slice(at, at + 1));
      log.write(all.slice(at + 1, stopped));
      await project();
      log.write(all.slice(stopped));
      log.upgrade();
      await project();
      expect(models.contents(), `stopped at ${stopped}`).to.deep.equal(await inOrder());
    }
  });

  it("miss no entry that comes while their return is in doubt", async () => {
    const all = told("accept", "startAttempt", "fail", "startAttempt", "succeed");
    const at = all.indexOf(facts(all, "DeliveryFailed")[0]!);
    log.write(all.slice(0, at));
    log.writeNewer(all.slice(at, at + 1));
    await project();
    log.write(all.slice(at + 1));
    log.upgrade();
    models.failures.push("after");
    const runner = newRunner();
    runner.start();
    await settled();
    clock.advance(50);
    await runner.drained(await log.head());
    expect(models.contents()).to.deep.equal(await inOrder());
  });

  it("wait again at the next entry of a newer release, and are quarantined at a damaged one", async () => {
    const all = told("accept", "startAttempt", "fail", "startAttempt", "fail", "startAttempt", "succeed");
    const [first, second] = facts(all, "DeliveryFailed") as [Told, Told];
    const parts = [first, second].map((one) => all.indexOf(one)) as [number, number];
    const write = (flaw: "newer" | "damaged") => {
      log = new WrittenLog();
      models = new AmendedReadModels();
      log.write(all.slice(0, parts[0]));
      log.writeNewer([first], "unknown version 2");
      log.write(all.slice(parts[0] + 1, parts[1]));
      if (flaw === "newer") log.writeNewer([{ ...second, fact: { ...second.fact, type: "Odd" } }], "unknown type");
      else log.write([second], "not JSON");
      log.write(all.slice(parts[1] + 1));
    };
    for (const flaw of ["newer", "damaged"] as const) {
      write(flaw);
      await project();
      log.upgrade((type) => type === "DeliveryFailed");
      anomalies = [];
      await project();
      const mark = contentsOf("quarantine")[streams.event(eventId)];
      expect(mark).to.include({ revision: 5, newer: flaw === "newer" });
      expect(await statusOf(eventId)).to.equal("Processing");
      expect(contentsOf("leases"), "nobody can deliver it").to.deep.equal({});
      const kind = flaw === "newer" ? "stream of a newer release" : "stream set aside";
      expect(anomalies).to.deep.equal(["stream of a newer release", kind]);
      expect(models.contents()).to.deep.equal(await inOrder());
    }
  });

  it("are forgotten when the stream was deleted meanwhile", async () => {
    log.write(retried);
    log.writeNewer([noted(eventId)]);
    await project();
    log.delete(streams.event(eventId));
    await project();
    expect(contentsOf("quarantine")).to.deep.equal({});
    expect(contentsOf("waiting")).to.deep.equal({});
  });

  it("are read once for each type and version that is still unreadable", async () => {
    const all = told(...Array.from({ length: 120 }, () => "accept"));
    const accepted = facts(all, "EventAccepted");
    log.write(others(all, accepted));
    log.writeNewer(accepted);
    await project();
    const read = log.readStream.bind(log);
    let reads = 0;
    log.readStream = async (...args) => {
      reads += 1;
      return read(...args);
    };
    await project();
    expect(reads).to.be.lessThan(60);
  });

  describe("with many entries", () => {
    /** A tenant with a hundred changes, the first of a newer release, and a hundred waiting events. */
    function write(): void {
      const all = told(...Array.from({ length: 100 }, () => ["newSecret", "accept"]).flat());
      const [first] = facts(all, "WebhookSecretRegenerated");
      const accepted = facts(all, "EventAccepted");
      for (const one of all) {
        if (one === first || accepted.includes(one)) log.writeNewer([one]);
        else log.write([one]);
      }
    }

    it("are projected page by page, each page with its mark", async () => {
      write();
      await project();
      log.upgrade();
      await project();
      expect(models.amendments.length).to.be.greaterThan(3);
      expect(Math.max(...models.amendments.map((changes) => changes.length))).to.be.lessThan(1_500);
      expect(models.contents()).to.deep.equal(await inOrder());
    });

    for (const failure of ["before", "after"] as const) {
      it(`count nothing twice when a process ends ${failure} an amendment is written`, async () => {
        write();
        await project();
        log.upgrade();
        for (let done = 0; done < 4; done += 1) {
          models.failures.push(...Array.from({ length: done }, () => null), failure);
          // The amendment fails, and the process ends during the pause.
          const runner = newRunner();
          runner.start();
          await settled();
          await runner.stop();
          models.failures.length = 0;
        }
        models.failures.push(failure);
        const runner = newRunner();
        runner.start();
        await settled();
        clock.advance(50);
        await settled();
        await runner.stop();
        expect(contentsOf("quarantine")).to.deep.equal({});
        expect(models.contents()).to.deep.equal(await inOrder());
      });
    }
  });

  describe("with facts that other streams depend on", () => {
    const built = "the read models lack facts of a newer release that can be read now: building them again";

    for (const [type, ...actions] of [
      ["DestinationRegistered", "accept", "open"],
      ["ApiKeyIssued", "accept"],
    ] as const) {
      it(`cause a rebuild of the read models: ${type}`, async () => {
        const all = told(...actions);
        const newer = facts(all, type);
        for (const one of all) {
          if (newer.includes(one)) log.writeNewer([one]);
          else log.write([one]);
        }
        await project();
        await project();
        expect(models.resets).to.equal(1);
        log.upgrade();
        await project();
        expect(lines.map(({ text }) => text)).to.include(built);
        expect(models.resets).to.equal(2);
        expect(models.contents()).to.deep.equal(await inOrder());
      });
    }
  });

  it("equal a projection in log order, for any waiting streams and any time", async () => {
    const flags = fc.array(fc.nat(9).map((n) => n === 0), { minLength: 7, maxLength: 40 });
    const failures = fc.array(fc.constantFrom("before" as const, "after" as const, null), { maxLength: 9 });
    const cases = fc.tuple(histories(80), flags, fc.nat(), fc.nat(), fc.nat(2), failures);
    await fc.assert(
      fc.asyncProperty(cases, async ([history, isNewer, first, second, third, failing]) => {
        log = new WrittenLog();
        models = new AmendedReadModels();
        const cuts = [first, second].map((n) => n % history.told.length).sort((one, other) => one - other);
        const write = (from: number, to: number) => {
          for (let n = from; n < to; n += 1) {
            if (isNewer[n % isNewer.length]) log.writeNewer([history.told[n]!]);
            else log.write([history.told[n]!]);
          }
        };
        write(0, cuts[0]!);
        await project();
        write(cuts[0]!, cuts[1]!);
        // A release in between can read some types, and is stopped halfway.
        log.upgrade((type) => type.length % 3 === third);
        models.failures.push(...failing);
        const runner = newRunner();
        runner.start();
        for (let turn = 0; turn <= failing.length; turn += 1) {
          await settled();
          clock.advance(5_000);
        }
        await runner.stop();
        models.failures.length = 0;
        write(cuts[1]!, history.told.length);
        log.upgrade();
        await project();
        expect(withoutMoments(models.contents())).to.deep.equal(withoutMoments(await inOrder()));
      }),
      { numRuns: 40 },
    );
  });
});
