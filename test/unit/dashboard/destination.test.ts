import { expect } from "chai";
import { successText } from "../../../packages/dashboard/src/pages/destination/figures.ts";
import { stepPath } from "../../../packages/dashboard/src/pages/destination/step-path.ts";

describe("the figures of a destination", () => {
  it("never round a failure away, and say nothing of no attempt", () => {
    expect(successText({ attempts: 100_000, failed: 1 })).to.equal("99.9 %");
    expect(successText({ attempts: 3, failed: 0 })).to.equal("100 %");
    expect(successText({ attempts: 0, failed: 0 })).to.equal("–");
  });
});

describe("the step line of a chart", () => {
  it("has a level for each bucket, and a gap where there is no value", () => {
    expect(stepPath([10, null, 5], 10, { width: 30, height: 12 })).to.equal("M0 1H10M20 6H30");
  });
});
