import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/index.ts";
import { ExpiringStateUnavailable } from "../../../../src/kernel/ports/expiring-state.ts";
import { ProcessLease } from "../../../../src/kernel/workers/process-lease.ts";
import { alone } from "../../../../src/main/operator/commands.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("an operator's command that must run alone", () => {
  let clock: ManualClock;
  let state: SqliteExpiringState;
  let anomalies: string[];
  let isAway: boolean;
  beforeEach(() => {
    clock = new ManualClock();
    state = new SqliteExpiringState(":memory:", clock);
    anomalies = [];
    isAway = false;
  });
  afterEach(() => state.close());

  const parts = () => ({ state, clock, logger: quiet, metrics: { anomaly: (of: string) => anomalies.push(of) } });
  const command = (task: (confirm: () => void) => Promise<void>) => {
    const reached = {
      lease: async (...args: Parameters<typeof state.lease>) => {
        if (isAway) throw new ExpiringStateUnavailable("gone");
        return state.lease(...args);
      },
      release: (...args: Parameters<typeof state.release>) => state.release(...args),
    };
    return alone({ ...parts(), state: reached, owner: "operator" }, task).then(() => "done", String);
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      clock.advance(100);
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
  };

  it("is refused while any process runs, and begins seconds after the last has ended", async () => {
    const [one, other] = [new ProcessLease(parts()), new ProcessLease(parts())];
    await Promise.all([one.start(), other.start()]);
    const refused = command(async () => expect.fail("a relay is running"));
    await pass(3_000);
    await one.stop();
    await pass(9_000);
    expect(await refused).to.equal("Error: a relay is running on these engines: stop it first");
    await other.stop();
    const begun = command(async (confirm) => confirm());
    await pass(9_000);
    expect(await begun).to.equal("done");
  });

  it("keeps processes from starting until it has ended", async () => {
    const { promise: task, resolve: end } = Promise.withResolvers<void>();
    const done = command(() => task);
    await pass(1_000);
    const relay = new ProcessLease(parts());
    let isStarted = false;
    const starting = relay.start().then(() => { isStarted = true; });
    await pass(20_000);
    expect([isStarted, anomalies]).to.deep.equal([false, ["leadership"]]);
    end();
    await pass(3_000);
    expect(await done).to.equal("done");
    await starting;
    await relay.stop();
  });

  it("fails when it lost its process lease meanwhile", async () => {
    const { promise: task, resolve: end } = Promise.withResolvers<void>();
    const done = command(async (confirm) => {
      await task;
      confirm();
    });
    await pass(1_000);
    isAway = true;
    await pass(7_000);
    isAway = false;
    await pass(7_000);
    end();
    await pass(1_000);
    expect(await done).to.match(/a relay may have run on these engines meanwhile/);
  });
});
