import { expect } from "chai";
import { GroupCommitDelay } from "../../../../packages/embedded-engine/src/event-store/group-commit-delay.ts";

describe("the group-commit delay", () => {
  /** The delay after a second of batches of so many appends, so many ms apart. */
  const pauseAt = (appends: number, everyMs: number) => {
    const pace = new GroupCommitDelay(4);
    let now = 0;
    for (; now < 1_000; now += everyMs) pace.sent(now, appends);
    return pace.pause(now - everyMs);
  };

  it("is 0 while appends are few, and delays all appends while they are many", () => {
    expect(new GroupCommitDelay(4).pause(0)).to.equal(0);
    expect(pauseAt(1, 1)).to.equal(0);
    expect(pauseAt(20, 20)).to.equal(0);
    expect(pauseAt(8, 5)).to.be.within(1, 3);
    expect(pauseAt(4, 1)).to.equal(4);
    expect(pauseAt(100, 2)).to.equal(4);
  });

  it("does not slow down callers that wait for their answers, however few", () => {
    for (const callers of [2, 4, 15]) {
      const pace = new GroupCommitDelay(4);
      let [now, answered] = [0, 0];
      while (now < 10_000) {
        // All callers append at once, and again half a millisecond after their appends were sent.
        now += pace.pause(now);
        pace.sent(now, callers);
        answered += callers;
        now += 0.5;
      }
      expect(answered).to.be.greaterThan(0.8 * callers * 10_000 / 0.5);
    }
  });

  it("batches appends of callers that do not wait for answers, except for a moment in each second", () => {
    const pace = new GroupCommitDelay(4);
    let [now, last, batches] = [0, 0, 0];
    for (; now < 10_000; batches += 1) {
      now += Math.max(pace.pause(now), 0.5);
      pace.sent(now, 3 * (now - last));
      last = now;
    }
    expect(batches).to.be.within(10_000 / 4, 1.5 * 10_000 / 4);
  });

  it("falls to 0 soon after a busy time", () => {
    const pace = new GroupCommitDelay(4);
    for (let now = 0; now <= 1_000; now += 1) pace.sent(now, 10);
    expect(pace.pause(1_001)).to.equal(3);
    pace.sent(1_500, 1);
    expect(pace.pause(1_500)).to.equal(0);
  });
});
