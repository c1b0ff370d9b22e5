import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/index.ts";
import { ExpiringStateUnavailable, type ExpiringState } from "../../../../src/kernel/ports/expiring-state.ts";
import { Leadership } from "../../../../src/kernel/workers/leadership.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("leadership", () => {
  let clock: ManualClock;
  let state: SqliteExpiringState;
  let steps: string[];
  let anomalies: string[];
  let startFails: boolean;
  let stopFails: boolean;
  /** Roles do not finish stopping before this resolves. */
  let stopping: Promise<void>;
  let away: ReadonlySet<string>;
  let silent: ReadonlySet<string>;
  let candidates: Leadership[];
  /** Leases are not requested before this resolves. */
  let renewal: Promise<void>;
  beforeEach(() => {
    clock = new ManualClock();
    state = new SqliteExpiringState(":memory:", clock);
    [steps, anomalies, candidates] = [[], [], []];
    [startFails, stopFails, away, silent] = [false, false, new Set(), new Set()];
    [renewal, stopping] = [Promise.resolve(), Promise.resolve()];
  });
  afterEach(async () => {
    await Promise.all(candidates.map((candidate) => candidate.stop(0)));
    await state.close();
  });

  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return steps.splice(0);
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(Math.min(500, left));
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return settle();
  };
  const candidate = (owner: string, itsClock = clock) => {
    const reached: Pick<ExpiringState, "lease" | "release"> = {
      lease: async (...args) => {
        if (silent.has(owner)) return new Promise(() => undefined);
        if (away.has(owner)) throw new ExpiringStateUnavailable("gone");
        await renewal;
        return state.lease(...args);
      },
      release: (...args) => state.release(...args),
    };
    let term = 0;
    const leadership = new Leadership(
      { state: reached, clock: itsClock, logger: quiet, metrics: { anomaly: (of) => anomalies.push(of) } },
      { name: "work", owner },
      () => {
        const name = `${owner}${(term += 1)}`;
        return {
          start: async () => {
            if (startFails) throw new Error("cannot yet");
            steps.push(`${name} starts`);
          },
          stop: async () => {
            steps.push(`${name} stops`);
            await stopping;
            if (stopFails) throw new Error("not cleanly");
          },
        };
      },
    );
    candidates.push(leadership);
    leadership.start();
    return leadership;
  };

  it("runs the role in the first candidate, and in that one only, for as long as it lives", async () => {
    const first = candidate("a");
    expect(await settle()).to.deep.equal(["a1 starts"]);
    const second = candidate("b");
    expect(await pass(60_000)).to.deep.equal([]);
    expect([first.leading, second.leading]).to.deep.equal([true, false]);
  });

  it("hands over at the next look when the holder stops, and after its lease when it dies", async () => {
    const first = candidate("a");
    await settle();
    candidate("b");
    await settle();
    await first.stop(0);
    expect(await pass(2_000)).to.deep.equal(["a1 stops", "b1 starts"]);
    await candidates[1]?.stop(0);
    await settle();
    // A holder that dies does not release its lease.
    await state.lease("role/work", "dead", 6_000);
    candidate("c");
    expect(await pass(3_500)).to.deep.equal([]);
    expect(await pass(4_500)).to.deep.equal(["c1 starts"]);
  });

  it("stops the role before another takes over when its lease cannot be renewed, and can lead again", async () => {
    candidate("a");
    await settle();
    candidate("b");
    away = new Set(["a"]);
    const seen = await pass(10_000);
    expect(seen).to.deep.equal(["a1 stops", "b1 starts"]);
    expect(new Set(anomalies)).to.deep.equal(new Set(["leadership"]));
    away = new Set();
    expect(await pass(5_000)).to.deep.equal([]);
    await candidates[1]?.stop(0);
    expect(await pass(2_000)).to.deep.equal(["b1 stops", "a2 starts"]);
  });

  it("stops the role a second before its lease could end, when the engine refuses or is silent", async () => {
    for (const outage of ["refuses", "says nothing"]) {
      candidates = [];
      const holder = candidate(outage);
      await settle();
      [away, silent] = outage === "refuses" ? [new Set([outage]), silent] : [away, new Set([outage])];
      expect(await pass(4_500), outage).to.deep.equal([]);
      expect(await pass(500), outage).to.deep.equal([`${outage}1 stops`]);
      await holder.stop(0);
    }
  });

  it("stops the role at the next look when another has the lease, because the engine lost it", async () => {
    candidate("a");
    await settle();
    await state.release("role/work", "a");
    candidate("b");
    expect(await settle()).to.deep.equal(["b1 starts"]);
    expect(await pass(2_000)).to.deep.equal(["a1 stops"]);
  });

  it("does not start the role on a lease that it released while the engine is unavailable", async () => {
    startFails = true;
    candidate("a");
    expect(await settle()).to.deep.equal(["a1 stops"]);
    startFails = false;
    candidate("b");
    expect(await settle()).to.deep.equal(["b1 starts"]);
    away = new Set(["a"]);
    expect(await pass(4_500)).to.deep.equal([]);
  });

  it("goes on through an outage shorter than the lease", async () => {
    candidate("a");
    await settle();
    away = new Set(["a"]);
    await pass(3_000);
    away = new Set();
    expect(await pass(10_000)).to.deep.equal([]);
  });

  it("restarts the role when it stalled for longer than its lease and the lease is free again", async () => {
    const heldUp = new ManualClock();
    candidate("a", heldUp);
    expect(await settle()).to.deep.equal(["a1 starts"]);
    const other = candidate("b");
    expect(await pass(8_000)).to.deep.equal(["b1 starts"]);
    await other.stop(0);
    expect(await settle()).to.deep.equal(["b1 stops"]);
    heldUp.advance(8_000);
    expect(await settle()).to.deep.equal(["a1 stops"]);
    heldUp.advance(2_000);
    expect(await settle()).to.deep.equal(["a2 starts"]);
  });

  it("tries again to start a role that could not start", async () => {
    startFails = true;
    candidate("a");
    expect(await settle()).to.deep.equal(["a1 stops"]);
    startFails = false;
    expect(await pass(2_000)).to.deep.equal(["a2 starts"]);
  });

  it("releases the lease only after an open renewal, which would take it again", async () => {
    const holder = candidate("a");
    await settle();
    const { promise, resolve } = Promise.withResolvers<void>();
    renewal = promise;
    clock.advance(2_000);
    await settle();
    const stopped = holder.stop(0);
    expect(await settle()).to.deep.equal([]);
    resolve();
    await stopped;
    candidate("b");
    expect(await settle()).to.deep.equal(["a1 stops", "b1 starts"]);
  });

  it("releases a lease that is granted after its stop", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    renewal = promise;
    const first = candidate("a");
    await settle();
    const stopped = first.stop(0);
    resolve();
    await stopped;
    candidate("b");
    expect(await settle()).to.deep.equal(["b1 starts"]);
  });

  it("keeps the lease until the role has stopped", async () => {
    const holder = candidate("a");
    await settle();
    const { promise, resolve } = Promise.withResolvers<void>();
    stopping = promise;
    const stopped = holder.stop(0);
    await settle();
    candidate("b");
    expect(await pass(2_000)).to.deep.equal([]);
    resolve();
    await stopped;
    expect(await pass(2_000)).to.deep.equal(["b1 starts"]);
  });

  it("releases the lease even if the role fails to stop cleanly", async () => {
    stopFails = true;
    const holder = candidate("a");
    await settle();
    await holder.stop(0);
    expect([holder.leading, anomalies]).to.deep.equal([false, ["leadership"]]);
    candidate("b");
    expect(await settle()).to.deep.equal(["a1 stops", "b1 starts"]);
  });
});
