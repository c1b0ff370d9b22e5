import { expect } from "chai";
import fc from "fast-check";
import { dueForMerge } from "../../../../packages/embedded-engine/src/event-store/housekeeping.ts";

/** Flushes of the given sizes, each followed by all merges that are due. */
function run(flushes: readonly number[], fanout: number) {
  const segments: { records: number }[] = [];
  let most = 0;
  let written = 0;
  for (const records of flushes) {
    segments.push({ records });
    for (let due = dueForMerge(segments, 100, fanout); due.length > 0; due = dueForMerge(segments, 100, fanout)) {
      const merged = { records: due.reduce((sum, segment) => sum + segment.records, 0) };
      written += merged.records;
      segments.splice(segments.indexOf(due[0]!), due.length, merged);
    }
    most = Math.max(most, segments.length);
  }
  return { segments, most, written };
}

describe("the merging of segments", () => {
  it("keeps few segments and rewrites a record seldom, for flushes of any size", () => {
    const sizes = fc.array(fc.integer({ min: 100, max: 900 }), { minLength: 1, maxLength: 300 });
    fc.assert(fc.property(sizes, fc.integer({ min: 2, max: 5 }), (flushes, fanout) => {
      const { most, segments, written } = run(flushes, fanout);
      const total = flushes.reduce((sum, records) => sum + records, 0);
      expect(segments.reduce((sum, { records }) => sum + records, 0)).to.equal(total);
      const tiers = Math.ceil(Math.log(total / 100) / Math.log(fanout)) + 1;
      expect(most).to.be.at.most(tiers * fanout);
      expect(written).to.be.at.most(total * tiers);
    }));
  });

  it("merges flushes of one size when they are as many as the fan-out", () => {
    expect(run(Array<number>(3).fill(100), 4).segments).to.have.length(3);
    expect(run(Array<number>(4).fill(100), 4).segments).to.deep.equal([{ records: 400 }]);
    expect(run(Array<number>(5).fill(100), 4).segments).to.deep.equal([{ records: 400 }, { records: 100 }]);
  });

  it("does not merge a large segment with small ones", () => {
    const segments = [100_000, 100, 100, 100].map((records) => ({ records }));
    expect(dueForMerge(segments, 100, 4)).to.deep.equal([]);
  });
});
