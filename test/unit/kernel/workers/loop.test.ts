import { expect } from "chai";
import { Loop, repeating } from "../../../../src/kernel/workers/loop.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

/** Waits until only timers are pending. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("loop", () => {
  it("repeats its task after the rest that the task asked for, until the task returns null", async () => {
    const clock = new ManualClock();
    const rests: (number | null)[] = [10, 20, null];
    let times = 0;
    const loop = new Loop(clock, async () => rests[times++] ?? null);
    loop.start();
    await settled();
    expect([times, clock.pending]).to.deep.equal([1, [10]]);
    clock.advance(10);
    await settled();
    expect([times, clock.pending]).to.deep.equal([2, [20]]);
    clock.advance(20);
    await settled();
    expect([times, clock.pending]).to.deep.equal([3, []]);
    await loop.stop();
  });

  it("waits for the running task when it is stopped, and runs no more", async () => {
    const clock = new ManualClock();
    const underWay = Promise.withResolvers<number>();
    let [times, over] = [0, false];
    const loop = new Loop(clock, () => {
      times += 1;
      return underWay.promise;
    });
    loop.start(10);
    await settled();
    expect(times).to.equal(0);
    clock.advance(10);
    await settled();
    const stopped = loop.stop().then(() => { over = true; });
    await settled();
    expect([times, over, loop.stopped]).to.deep.equal([1, false, true]);
    underWay.resolve(10);
    await stopped;
    expect([times, clock.pending]).to.deep.equal([1, []]);
  });

  it("ends its rests at once when it is stopped, and rests no more", async () => {
    const clock = new ManualClock();
    let times = 0;
    const loop = new Loop(clock, async () => {
      times += 1;
      return 10;
    });
    loop.start(10);
    const rest = loop.rest(20);
    await loop.stop();
    await rest;
    await loop.rest(20);
    expect([times, clock.pending]).to.deep.equal([0, []]);
  });
});

describe("a repeated task", () => {
  const anomalies: string[] = [];
  const metrics = { anomaly: (of: string) => void anomalies.push(of) };

  it("is repeated after its pause until it is stopped, even after a failure", async () => {
    const clock = new ManualClock();
    const [times, parts] = [[] as number[], { clock, logger: quiet, metrics }];
    const begun = clock.now();
    const role = repeating(parts, { name: "retention", everyMs: 60, firstMs: 5 }, async () => {
      times.push(clock.now() - begun);
      if (times.length === 1) throw new Error("the log is away");
    });
    void role.start();
    for (const ms of [5, 60, 60]) {
      clock.advance(ms);
      await settled();
    }
    expect(times).to.deep.equal([5, 65, 125]);
    expect(anomalies).to.deep.equal(["retention"]);
    await role.stop(0);
    expect(clock.pending).to.deep.equal([]);
  });

  it("is not begun again while it runs, and is waited for when it is stopped", async () => {
    const clock = new ManualClock();
    const going = Promise.withResolvers<void>();
    let [times, isStopped] = [0, false];
    const role = repeating({ clock, logger: quiet, metrics }, { name: "sweeper", everyMs: 5 }, () => {
      times += 1;
      return going.promise;
    });
    void role.start();
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(5);
      await settled();
    }
    const stopped = role.stop(0).then(() => { isStopped = true; });
    await settled();
    expect([times, isStopped]).to.deep.equal([1, false]);
    going.resolve();
    await stopped;
  });

  it("learns that it has been stopped", async () => {
    const clock = new ManualClock();
    const going = Promise.withResolvers<void>();
    const seen: boolean[] = [];
    const role = repeating({ clock, logger: quiet, metrics }, { name: "cleaner", everyMs: 5 }, async (isOver) => {
      seen.push(isOver());
      await going.promise;
      seen.push(isOver());
    });
    void role.start();
    clock.advance(5);
    await settled();
    const stopped = role.stop(0);
    going.resolve();
    await stopped;
    expect(seen).to.deep.equal([false, true]);
  });
});
