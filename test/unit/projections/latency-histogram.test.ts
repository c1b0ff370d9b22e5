import { expect } from "chai";
import fc from "fast-check";
import { binOf, percentileOf } from "../../../projections/statistics/statistics.ts";

/** The smallest of the durations that a share of them does not exceed. */
function exact(durations: readonly number[], share: number): number {
  return [...durations].sort((one, other) => one - other)[Math.ceil(share * durations.length) - 1]!;
}

describe("a histogram of durations", () => {
  it("has 48 bins from 1 ms to 60 s, and further ones beyond", () => {
    expect([0, 0.4, 1, 59_999, 60_000].map(binOf)).to.deep.equal([0, 0, 0, 47, 48]);
    expect(binOf(30 * 86_400_000)).to.be.within(49, 119);
    expect(binOf(1e300)).to.equal(119);
  });

  it("gives percentiles at most 13 % off, and none above the longest", () => {
    const duration = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 10_000_000 }));
    fc.assert(fc.property(fc.array(duration, { minLength: 1 }), (durations) => {
      const bins = new Map<number, number>();
      for (const ms of durations) bins.set(binOf(ms), (bins.get(binOf(ms)) ?? 0) + 1);
      const longest = Math.max(...durations);
      for (const share of [0.5, 0.95, 0.99, 1]) {
        const percentile = percentileOf(bins, share, longest)!;
        expect(percentile / exact(durations, share)).to.be.within(0.87, 1.13);
        expect(percentile).to.be.at.most(longest);
      }
    }), { numRuns: 1_000 });
  });

  it("without durations has no percentiles", () => {
    expect(percentileOf(new Map(), 0.5)).to.equal(null);
  });
});
