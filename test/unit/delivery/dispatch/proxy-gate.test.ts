import { expect } from "chai";
import { ProxyGate } from "../../../../src/delivery/dispatch/proxy-gate.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("the gate of the outbound proxy", () => {
  let clock: ManualClock;
  let gate: ProxyGate;
  let resumed: number;
  beforeEach(() => {
    clock = new ManualClock();
    resumed = 0;
    gate = new ProxyGate(clock, true, () => (resumed += 1));
  });

  const fails = () => gate.try(async () => "away");
  const works = () => gate.try(async () => null);

  it("is always open without a proxy, and sets no timer", () => {
    const free = new ProxyGate(clock, false, () => undefined);
    free.pass();
    expect([free.open, free.mayTry, free.problem]).to.deep.equal([true, false, null]);
    expect(clock.pending).to.deep.equal([]);
  });

  it("is closed until the proxy is proven, and again 5 s after the last proof", async () => {
    expect([gate.open, gate.mayTry]).to.deep.equal([false, true]);
    await works();
    clock.advance(4_999);
    expect(gate.open).to.equal(true);
    gate.pass();
    clock.advance(4_999);
    expect(gate.open).to.equal(true);
    clock.advance(1);
    expect([gate.open, gate.mayTry, gate.problem]).to.deep.equal([false, true, null]);
  });

  it("pauses 1 s after a failure, doubling to 30 s, until an attempt went through", async () => {
    const pauses: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      await fails();
      expect([gate.open, gate.mayTry, gate.problem]).to.deep.equal([false, false, "away"]);
      pauses.push(...clock.pending);
      clock.advance(clock.pending[0]!);
    }
    expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(resumed).to.equal(7);
    // A tunnel alone proves the way, but a proxy that carries no attempt is not asked more often.
    await works();
    expect([gate.open, gate.problem]).to.deep.equal([true, null]);
    gate.fail("away");
    expect(clock.pending).to.deep.equal([30_000]);
    clock.advance(30_000);
    await works();
    gate.pass();
    gate.fail("away");
    expect(clock.pending).to.deep.equal([1_000]);
  });

  it("takes failures of several attempts for one", () => {
    for (let count = 0; count < 10; count += 1) gate.fail("away");
    expect(clock.pending).to.deep.equal([1_000]);
  });

  it("tries once at a time, and again after a trial that was broken off", async () => {
    const { promise, reject } = Promise.withResolvers<null>();
    const trial = gate.try(() => promise);
    expect(gate.mayTry).to.equal(false);
    reject(new Error("broken off"));
    await trial.catch(() => undefined);
    expect(gate.mayTry).to.equal(true);
  });

  it("does not resume once it is not watched", () => {
    gate.fail("away");
    gate.unwatch();
    clock.advance(60_000);
    expect(resumed).to.equal(0);
  });
});
