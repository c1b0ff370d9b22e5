import { expect } from "chai";
import { PositionWaiters } from "../../../../src/engines/mongodb/read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("callers that wait for a position that another process reaches", () => {
  let clock: ManualClock;
  let asked: number;
  let reached: string;
  let waiters: PositionWaiters;

  beforeEach(() => {
    clock = new ManualClock();
    asked = 0;
    reached = "1";
    waiters = new PositionWaiters(clock, async () => {
      asked += 1;
      if (reached === "away") throw new Error("no answer");
      return reached;
    });
  });

  const pass = async (ms: number) => {
    clock.advance(ms);
    await turn();
  };

  it("share queries for the position, which come at growing intervals", async () => {
    const told: string[] = [];
    for (const position of ["2", "2", "3"]) {
      void waiters.wait(position, 10_000).then((answer) => told.push(`${position} ${answer}`));
    }
    await turn();
    expect(asked).to.equal(1);
    const pauses = [2, 4, 8, 16, 32, 50, 50];
    for (const [n, pause] of pauses.entries()) {
      await pass(pause - 1);
      expect(asked).to.equal(n + 1);
      await pass(1);
      expect(asked).to.equal(n + 2);
    }
    reached = "2";
    await pass(50);
    expect(told).to.deep.equal(["2 true", "2 true"]);
    reached = "3";
    await pass(50);
    expect(told).to.have.length(3);
    const before = asked;
    await pass(1_000);
    expect(asked).to.equal(before);
    expect(clock.pending).to.deep.equal([]);
  });

  it("get a query soon when another caller comes", async () => {
    void waiters.wait("9", 10_000);
    await turn();
    for (const pause of [2, 4, 8, 16, 32, 50]) await pass(pause);
    const before = asked;
    void waiters.wait("5", 10_000);
    await turn();
    expect(asked).to.equal(before + 1);
    await pass(2);
    expect(asked).to.equal(before + 2);
  });

  it("get false when their time is over, and not before, even if the database does not answer", async () => {
    reached = "away";
    let answer: boolean | undefined;
    void waiters.wait("2", 100).then((one) => { answer = one; });
    await turn();
    for (let ms = 0; ms < 99; ms += 1) await pass(1);
    expect(answer).to.equal(undefined);
    await pass(1);
    expect(answer).to.equal(false);
    expect(asked).to.be.greaterThan(3);
  });
});
