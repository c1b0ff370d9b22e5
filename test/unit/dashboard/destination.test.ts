import { expect } from "chai";
import { successText } from "../../../packages/dashboard/src/pages/destination/figures.ts";

describe("the figures of a destination", () => {
  it("never round a failure away, and say nothing of no attempt", () => {
    expect(successText({ attempts: 100_000, failed: 1 })).to.equal("99.9 %");
    expect(successText({ attempts: 3, failed: 0 })).to.equal("100 %");
    expect(successText({ attempts: 0, failed: 0 })).to.equal("–");
  });
});
