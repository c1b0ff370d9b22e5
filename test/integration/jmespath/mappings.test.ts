import type { ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { JmespathMappings } from "../../../src/engines/jmespath/jmespath-mappings.ts";
import { Refusal } from "../../../src/kernel/domain/refusal.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { hostileExpressions, hostilePayload } from "./hostile-expressions.ts";

const maxBytes = 262_144;

const endless = hostileExpressions["nests filters"] ?? "";

/** The module's own object: its properties reach the imports after {@link syncBuiltinESMExports}. */
const childProcess = createRequire(import.meta.url)("node:child_process") as { fork: typeof fork };

describe("mappings in processes of their own", function () {
  this.timeout(60_000);
  const opened: JmespathMappings[] = [];
  const children: ChildProcess[] = [];
  /** When new processes are stopped: before they are ready, or once they are. */
  let stopping: "at once" | "once ready" | null = null;
  /** Whether no process can be started, and how often it was tried. */
  let failing = false;
  let failed = 0;
  const own = childProcess.fork;
  before(() => {
    childProcess.fork = ((...given: Parameters<typeof fork>) => {
      // At most a hundred times: tries without a pause would never let the test go on.
      if (failing && failed < 100) {
        failed += 1;
        throw new Error("spawn EAGAIN");
      }
      const child = own(...given);
      if (stopping === "at once") child.kill("SIGSTOP");
      if (stopping === "once ready") child.once("message", () => child.kill("SIGSTOP"));
      children.push(child);
      return child;
    }) as typeof fork;
    syncBuiltinESMExports();
  });
  after(() => {
    childProcess.fork = own;
    syncBuiltinESMExports();
  });
  const running = () => children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const open = () => {
    const anomalies: string[] = [];
    const warnings: object[] = [];
    const clock = new ManualClock();
    const metrics = { anomaly: (kind: string) => anomalies.push(kind) };
    const logger = { warn: (fields: object) => warnings.push(fields) };
    const mappings = new JmespathMappings({ metrics, logger, clock }, maxBytes);
    opened.push(mappings);
    return { mappings, anomalies, warnings, clock };
  };
  afterEach(() => {
    stopping = null;
    failing = false;
    failed = 0;
    for (const mappings of opened.splice(0)) mappings.close();
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  const tidy = (mappings: JmespathMappings, n = 1) => mappings.apply("tidy", "{n: n}", `{"n":${n}}`);

  /** Leaves two idle processes, and the tenant "slow" marked as slow. */
  const bothStarted = async (mappings: JmespathMappings) => {
    await Promise.all([mappings.apply("slow", endless, hostilePayload), tidy(mappings)]);
    // A tenant marked as slow is served by the second process only.
    await mappings.apply("slow", endless, hostilePayload);
    expect(running()).to.have.length(2);
  };

  it("map, name the problem, and check an expression without a payload", async () => {
    const { mappings, anomalies, clock } = open();
    expect(await tidy(mappings)).to.deep.equal({ text: '{"n":1}' });
    expect(await mappings.apply("tidy", "n", '{"n":1}')).to.deep.equal({ problem: "yields a number, not an object" });
    expect(await mappings.problemOf("tidy", "{n: n}")).to.equal(null);
    expect(await mappings.problemOf("tidy", "{n: ")).to.match(/^is not a JMESPath expression/);
    expect(anomalies).to.deep.equal([]);
    expect(clock.pending).to.deep.equal([]);
  });

  for (const [harm, expression] of Object.entries(hostileExpressions)) {
    it(`survive an expression that ${harm}`, async () => {
      const { mappings } = open();
      await tidy(mappings);
      const before = process.threadCpuUsage();
      const outcome = await mappings.apply("hostile", expression, hostilePayload);
      const { user, system } = process.threadCpuUsage(before);
      expect(outcome).to.have.property("problem").that.is.a("string");
      expect((user + system) / 1_000, "of the event loop, ms").to.be.lessThan(50);
      expect(await tidy(mappings, 2)).to.deep.equal({ text: '{"n":2}' });
    });
  }

  for (const [what, signal] of [["hangs", "SIGSTOP"], ["dies", "SIGKILL"]] as const) {
    it(`map on another process when one ${what}`, async () => {
      const { mappings, anomalies } = open();
      await tidy(mappings);
      const [child] = running();
      child?.kill("SIGSTOP");
      const outcome = tidy(mappings);
      child?.kill(signal);
      expect(await outcome).to.deep.equal({ text: '{"n":1}' });
      expect(anomalies).to.deep.equal(["mapping process lost"]);
    });
  }

  it("give up an expression after two processes were lost over it, and go on with new processes", async () => {
    const { mappings, anomalies, warnings } = open();
    stopping = "once ready";
    const outcome = await mappings.apply("hostile", "{n: n}", '{"n":1}');
    stopping = null;
    expect(outcome).to.deep.equal({ problem: "goes beyond its bounds of time or memory" });
    expect(anomalies).to.deep.equal(["mapping process lost", "mapping process lost"]);
    expect(warnings, "whose it was, once").to.deep.equal([{ tenantId: "hostile" }]);
    for (const child of running()) child.kill("SIGCONT");
    expect(await tidy(mappings)).to.deep.equal({ text: '{"n":1}' });
  });

  it("start another process when an idle one has ended", async () => {
    const { mappings, anomalies } = open();
    await tidy(mappings);
    const [child] = running();
    const exit = once(child ?? expect.fail(), "exit");
    child?.kill("SIGKILL");
    await exit;
    expect(await tidy(mappings)).to.deep.equal({ text: '{"n":1}' });
    expect(anomalies).to.deep.equal([]);
  });

  it("keep a process for quick tenants, even when many are slow", async () => {
    const { mappings } = open();
    const slow = ["slow 1", "slow 2", "slow 3"];
    await Promise.all(slow.map((tenant) => mappings.apply(tenant, endless, hostilePayload)));
    let ended = 0;
    const flood = Promise.allSettled(Array.from({ length: 30 }, async (_, n) => {
      await mappings.apply(slow[n % 3] ?? "", endless, hostilePayload).finally(() => (ended += 1));
    }));
    for (let n = 0; n < 30; n += 1) await tidy(mappings, n);
    expect(ended, "slow ones that ended before the quick ones").to.be.lessThan(30);
    await flood;
  });

  it("keep the only running process for quick tenants until another has started", async () => {
    const { mappings } = open();
    await bothStarted(mappings);
    const [first] = running();
    stopping = "at once";
    const exit = once(first ?? expect.fail(), "exit");
    first?.kill("SIGKILL");
    await exit;
    let ended = false;
    const waiting = mappings.apply("slow", endless, hostilePayload).finally(() => (ended = true));
    for (let n = 0; n < 5; n += 1) expect(await tidy(mappings, n)).to.deep.equal({ text: `{"n":${n}}` });
    expect(ended, "the slow one ran on the only process").to.equal(false);
    stopping = null;
    for (const child of running()) child.kill("SIGCONT");
    expect(await waiting).to.have.property("problem");
  });

  it("forget after ten seconds that a tenant was slow", async () => {
    const { mappings, clock } = open();
    await tidy(mappings);
    failing = true;
    await mappings.apply("slow", endless, hostilePayload);
    clock.advance(10_001);
    expect(await mappings.apply("slow", "{n: n}", '{"n":1}')).to.deep.equal({ text: '{"n":1}' });
  });

  it("refuse a tenant whose payloads pile up, and no other tenant", async () => {
    const { mappings } = open();
    const flood = Array.from({ length: 300 }, async () => mappings.apply("hostile", endless, '{"l":[]}'));
    const ended = Promise.allSettled(flood);
    expect(await tidy(mappings)).to.deep.equal({ text: '{"n":1}' });
    const outcomes = await ended;
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).to.have.length.of.at.least(300 - 256).and.of.at.most(299);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
    expect(await mappings.apply("hostile", "{n: l}", '{"l":[]}')).to.deep.equal({ text: '{"n":[]}' });
  });

  it("refuse a mapping that has waited for two seconds, and do not run it", async () => {
    const { mappings, clock } = open();
    stopping = "at once";
    const early = Promise.allSettled([mappings.apply("patient", "{n: n}", '{"n":1}')]);
    clock.advance(1);
    const late = tidy(mappings);
    clock.advance(1_999);
    for (const child of running()) child.kill("SIGCONT");
    expect((await early)[0]).to.have.nested.property("reason.kind", "unavailable");
    expect(await late).to.deep.equal({ text: '{"n":1}' });
  });

  it("refuse slow tenants, too, after two seconds while no process may serve them", async () => {
    const { mappings, clock } = open();
    await tidy(mappings);
    failing = true;
    await mappings.apply("slow", endless, hostilePayload);
    const waiting = mappings.apply("slow", "{n: n}", '{"n":1}').then(() => "mapped", ({ kind }: Refusal) => kind);
    clock.advance(1_999);
    const next = mappings.apply("slow", "{n: n}", '{"n":2}').then(() => "mapped", ({ kind }: Refusal) => kind);
    clock.advance(1);
    expect(await waiting).to.equal("unavailable");
    expect(await tidy(mappings)).to.deep.equal({ text: '{"n":1}' });
    clock.advance(1_999);
    expect(await next).to.equal("unavailable");
    failing = false;
  });

  for (const [signal, what, expected] of [
    ["SIGCONT", "let a running mapping end after two seconds", "mapped"],
    ["SIGKILL", "do not try a mapping again after two seconds when its process is lost", "unavailable"],
  ] as const) {
    it(what, async () => {
      const { mappings, clock } = open();
      await tidy(mappings);
      const [child] = running();
      child?.kill("SIGSTOP");
      const outcome = tidy(mappings).then(() => "mapped", ({ kind }: Refusal) => kind);
      clock.advance(2_000);
      child?.kill(signal);
      expect(await outcome).to.equal(expected);
    });
  }

  it("wait between tries to start a process, and say once why it cannot be started", async () => {
    const { mappings, anomalies, warnings, clock } = open();
    await tidy(mappings);
    const [busy] = running();
    busy?.kill("SIGSTOP");
    failing = true;
    const waiting = [tidy(mappings, 1), tidy(mappings, 2)];
    const turns = async () => {
      for (let n = 0; n < 20; n += 1) await turn();
    };
    await turns();
    expect(failed).to.equal(1);
    clock.advance(500);
    await turns();
    expect(failed).to.equal(2);
    failing = false;
    clock.advance(500);
    const outcomes = await Promise.all(waiting);
    expect(outcomes).to.deep.equal([{ text: '{"n":1}' }, { text: '{"n":2}' }]);
    expect(anomalies.filter((kind) => kind === "mapping process start")).to.have.length(2);
    const failures = warnings.filter((fields) => "err" in fields);
    expect(failures).to.have.length(1).and.have.nested.property("[0].err.message", "spawn EAGAIN");
  });

  it("refuse all tenants when too much is queued", async () => {
    const { mappings } = open();
    const large = JSON.stringify({ n: "x".repeat(250_000) });
    const apply = async (n: number) => mappings.apply(`tenant ${n}`, "{n: n}", large);
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, (_, n) => apply(n)));
    const refused = outcomes.filter(({ status }) => status === "rejected").length;
    expect(refused).to.be.within(200 - 135, 199);
    expect(await apply(0)).to.deep.equal({ text: large });
  });

  it("do not let tenants with large queues keep out a tenant with a smaller one", async () => {
    const { mappings } = open();
    const large = JSON.stringify({ n: "x".repeat(250_000) });
    const flood = Promise.allSettled(
      Array.from({ length: 200 }, async (_, n) => mappings.apply(`hostile ${n % 2}`, "{n: n}", large)),
    );
    const others = await Promise.all(Array.from({ length: 20 }, () => mappings.apply("other", "{n: n}", large)));
    for (const outcome of others) expect(outcome).to.deep.equal({ text: large });
    const refused = (await flood).filter((outcome) => outcome.status === "rejected");
    expect(refused).to.have.length.within(200 - 135 + 20, 199);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
  });

  it("refuse waiting mappings once closed, and start no more processes", async () => {
    const { mappings } = open();
    await tidy(mappings);
    const waiting = Promise.allSettled(Array.from({ length: 20 }, (_, n) => tidy(mappings, n)));
    mappings.close();
    for (const outcome of [...(await waiting), ...(await Promise.allSettled([tidy(mappings)]))]) {
      expect(outcome).to.have.property("status", "rejected");
      expect(outcome).to.have.nested.property("reason.kind", "unavailable");
    }
  });
});
