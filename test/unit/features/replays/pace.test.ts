import { expect } from "chai";
import { Pace } from "../../../../src/features/replays/replay-run.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("the pace of a replay", () => {
  /** How many may begin in each of so many steps of `stepMs`. */
  const begun = (perSecond: number, stepMs: number, steps: number) => {
    const clock = new ManualClock();
    const pace = new Pace(clock, perSecond);
    return Array.from({ length: steps }, () => {
      const { allowed } = pace;
      pace.take(allowed);
      clock.advance(stepMs);
      return allowed;
    });
  };
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

  it("begins with one event and keeps to the rate", () => {
    const slow = begun(0.1, 1_000, 31);
    expect(slow.flatMap((count, second) => (count > 0 ? [second] : []))).to.deep.equal([0, 10, 20, 30]);
    expect(begun(1, 250, 9)).to.deep.equal([1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(sum(begun(50, 20, 501))).to.be.within(499, 501);
    expect(sum(begun(1_000, 20, 51))).to.be.within(999, 1_001);
  });

  it("makes up for half a second at most after a pause", () => {
    expect(begun(100, 60_000, 3)).to.deep.equal([1, 50, 50]);
    expect(begun(0.5, 60_000, 3)).to.deep.equal([1, 1, 1]);
  });
});
