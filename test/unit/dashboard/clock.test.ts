import { expect } from "chai";
import { createRelayClock } from "../../../packages/dashboard/src/api/clock.ts";

describe("the relay's clock as the dashboard knows it", () => {
  const relayTime = Date.parse("2026-11-26T12:00:00.900Z");
  const hourMs = 3_600_000;
  const date = "Thu, 26 Nov 2026 12:00:00 GMT";

  for (const [words, aheadMs] of [["ahead", hourMs], ["behind", -hourMs]] as const) {
    it(`is the relay's where the browser's is an hour ${words}`, () => {
      let own = relayTime + aheadMs;
      const clock = createRelayClock(() => own);
      clock.hear(date);
      expect(Math.abs(clock.now() - relayTime)).to.be.lessThan(1_000);
      own += 600_000;
      expect(Math.abs(clock.now() - relayTime - 600_000)).to.be.lessThan(1_000);
    });
  }

  it("is the browser's to the millisecond where that is right, and where no answer told the time", () => {
    const clock = createRelayClock(() => relayTime);
    expect(clock.now()).to.equal(relayTime);
    clock.hear(null);
    clock.hear("sometime");
    clock.hear(date);
    expect(clock.now()).to.equal(relayTime);
  });

  it("does not jump from answer to answer, and follows a browser's clock that is set right", () => {
    let own = relayTime + hourMs;
    const clock = createRelayClock(() => own);
    clock.hear(date);
    const first = clock.now();
    own += 1_000;
    clock.hear("Thu, 26 Nov 2026 12:00:02 GMT");
    expect(clock.now() - first).to.equal(1_000);
    own = relayTime + 2_000;
    clock.hear("Thu, 26 Nov 2026 12:00:02 GMT");
    expect(clock.now()).to.equal(own);
  });
});
