import { expect } from "chai";
import type { Clock } from "../../src/kernel/ports/clock.ts";

/** The contract of every clock; `pass` lets the given time go by on it. */
export function clockContract(make: () => { clock: Clock; pass: (ms: number) => Promise<void> }): void {
  describe("clock", () => {
    it("calls a task once, and not before its time", async () => {
      const { clock, pass } = make();
      for (const delayMs of [0, 0.5, 1, 7, 20]) {
        const start = clock.monotonic();
        let calls = 0;
        let after = NaN;
        clock.schedule(delayMs, () => { calls += 1; after = clock.monotonic() - start; });
        expect(calls, "never at once").to.equal(0);
        while (calls === 0) await pass(1);
        await pass(5);
        expect(calls).to.equal(1);
        expect(after).to.be.at.least(delayMs);
      }
    });

    it("calls no task that was cancelled", async () => {
      const { clock, pass } = make();
      const called: string[] = [];
      const early = clock.schedule(5, () => called.push("cancelled"));
      const late = clock.schedule(60 * 86_400_000, () => called.push("in sixty days"));
      clock.schedule(10, () => called.push("kept"));
      early.cancel();
      while (called.length === 0) await pass(1);
      expect(called).to.deep.equal(["kept"]);
      late.cancel();
      late.cancel();
    });

    it("measures elapsed time, in wall-clock and monotonic time", async () => {
      const { clock, pass } = make();
      const [wall, monotonic] = [clock.now(), clock.monotonic()];
      expect(Number.isInteger(wall)).to.equal(true);
      while (clock.now() === wall) await pass(1);
      expect(clock.now()).to.be.greaterThan(wall);
      expect(clock.monotonic()).to.be.greaterThan(monotonic);
    });
  });
}
