import { expect } from "chai";
import { GroupSession } from "../../../../src/engines/kafka/membership.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("a session in the group", () => {
  it("is counted from when the member's last request was sent, not from when the answer came", () => {
    const clock = new ManualClock();
    const session = new GroupSession(clock, 5_000, 2_000);
    clock.advance(2_999);
    expect(session.alive).to.equal(true);
    clock.advance(1);
    expect(session.alive).to.equal(false);
    session.renew(4_999);
    expect(session.alive).to.equal(true);
    clock.advance(1);
    expect(session.alive).to.equal(false);
  });

  it("is not shortened by a late answer", () => {
    const clock = new ManualClock();
    const session = new GroupSession(clock, 5_000, 0);
    session.renew(6_000);
    expect(session.alive).to.equal(true);
  });

  it("stays ended", () => {
    const session = new GroupSession(new ManualClock(), 5_000, 0);
    session.end();
    session.renew(0);
    expect(session.alive).to.equal(false);
  });
});
