import { expect } from "chai";
import { RecentlyUsed } from "../../../../src/kernel/tools/recently-used.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const halfMinute = 30_000;

describe("P12 recent", () => {
  it("keeps values that are used at least every half minute, and forgets the rest within a minute", () => {
    const clock = new ManualClock();
    const recent = new RecentlyUsed<string>(clock, { max: 100 });
    recent.set("busy", "b");
    recent.set("idle", "i");
    for (let n = 0; n < 10; n += 1) {
      clock.advance(halfMinute);
      if (n === 0) expect(clock.pending).to.deep.equal([halfMinute]);
      expect(recent.get("busy")).to.equal("b");
    }
    expect(recent.get("idle")).to.equal(undefined);
  });

  it("does not forget before half a minute has passed", () => {
    const clock = new ManualClock();
    const recent = new RecentlyUsed<string>(clock, { max: 100 });
    recent.set("other", "o");
    clock.advance(halfMinute - 1);
    recent.set("late", "l");
    clock.advance(halfMinute - 1);
    expect(recent.get("late")).to.equal("l");
  });

  it("has one timer however much it holds, and none once all is forgotten", () => {
    const clock = new ManualClock();
    const recent = new RecentlyUsed<number>(clock, { max: 1_000 });
    expect(clock.pending).to.deep.equal([]);
    for (let n = 0; n < 200; n += 1) recent.set(`${n}`, n);
    expect(clock.pending).to.deep.equal([halfMinute]);
    clock.advance(halfMinute);
    clock.advance(halfMinute);
    expect(clock.pending).to.deep.equal([]);
    recent.set("again", 1);
    expect(clock.pending).to.deep.equal([halfMinute]);
  });

  it("holds a bounded number of values, the last used ones", () => {
    const recent = new RecentlyUsed<number>(new ManualClock(), { max: 10 });
    for (let n = 0; n < 100; n += 1) {
      recent.set(`${n}`, n);
      expect(recent.get("0")).to.equal(0);
    }
    const latest = Array.from({ length: 100 }, (_, n) => 99 - n);
    const held = latest.filter((n) => recent.get(`${n}`) !== undefined);
    expect(held.length).to.be.within(5, 10);
    expect(held.slice(0, 4)).to.deep.equal([99, 98, 97, 96]);
  });

  it("returns the newest value, and none that was deleted or cleared", () => {
    const clock = new ManualClock();
    const recent = new RecentlyUsed<string>(clock, { max: 100 });
    for (const key of ["changed", "deleted", "cleared"]) recent.set(key, "old");
    clock.advance(halfMinute);
    recent.set("changed", "new");
    recent.delete("deleted");
    expect(recent.get("changed")).to.equal("new");
    expect(recent.get("deleted")).to.equal(undefined);
    recent.clear();
    expect(recent.get("changed")).to.equal(undefined);
    expect(recent.get("cleared")).to.equal(undefined);
  });
});
