import { expect } from "chai";
import { countedRuns } from "../../../packages/dashboard/src/pages/destination/counted-runs.ts";
import { successText, trafficOf } from "../../../packages/dashboard/src/pages/destination/figures.ts";

describe("the figures of a destination", () => {
  it("never round a failure away, and say nothing of no attempt", () => {
    expect(successText({ attempts: 100_000, failed: 1 })).to.equal("99.9 %");
    expect(successText({ attempts: 3, failed: 0 })).to.equal("100 %");
    expect(successText({ attempts: 0, failed: 0 })).to.equal("–");
  });

  it("say that it fails where all of its newest attempts failed", () => {
    const bucket = (attempts: number, status: number) => ({
      at: "2026-11-28T10:00:00.000Z", accepted: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts,
      failures: { status }, latencyMs: null, firstAttemptMs: null,
    });
    expect(trafficOf([bucket(0, 0)])).to.deep.equal({ state: "quiet", failed: 0 });
    expect(trafficOf([bucket(4, 1), bucket(2, 2), bucket(0, 0)])).to.deep.equal({ state: "failing", failed: 3 });
    expect(trafficOf([bucket(2, 2), bucket(4, 1)])).to.deep.equal({ state: "going", failed: 3 });
  });
});

describe("the history of a circuit", () => {
  it("has counts in a row under the newest of them", () => {
    const facts = ["Counted", "Counted", "Opened", "Counted", "Closed", "Opened"]
      .map((act, at) => ({ type: `Circuit${act}`, at }));
    expect(countedRuns(facts).map(({ fact, before }) => [fact.at, before.map(({ at }) => at)]))
      .to.deep.equal([[0, [1]], [2, []], [3, []], [4, []], [5, []]]);
  });
});
