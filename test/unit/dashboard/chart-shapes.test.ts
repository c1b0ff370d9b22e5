import { expect } from "chai";
import { stackedBars, stepPath } from "../../../packages/dashboard/src/parts/chart-shapes.ts";

describe("the step line of a chart", () => {
  it("has a level for each bucket, and a gap in place of a missing value", () => {
    expect(stepPath([10, null, 5], 10, { width: 30, height: 12 })).to.equal("M0 1H10M20 6H30");
  });
});

describe("the bars of a chart", () => {
  const box = { width: 20, base: 100, room: 50, gap: 2 };

  it("stack each series on those before it, and show the smallest count", () => {
    const [first, second] = stackedBars([[100, 0], [1, 50]], box, 100);
    expect(first).to.deep.equal([{ x: 1, y: 50, width: 8, height: 50 }, { x: 11, y: 100, width: 8, height: 0 }]);
    expect(second).to.deep.equal([{ x: 1, y: 48, width: 8, height: 2 }, { x: 11, y: 75, width: 8, height: 25 }]);
  });
});
