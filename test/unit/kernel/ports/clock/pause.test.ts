import { expect } from "chai";
import { Pause } from "../../../../../src/kernel/ports/clock.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

describe("pause", () => {
  it("gives each of several waits its own duration", async () => {
    const clock = new ManualClock();
    const pause = new Pause(clock);
    const over: string[] = [];
    const short = pause.wait(50).then(() => over.push("short"));
    const long = pause.wait(100).then(() => over.push("long"));
    clock.advance(50);
    await short;
    expect(over).to.deep.equal(["short"]);
    clock.advance(50);
    await long;
    expect(over).to.deep.equal(["short", "long"]);
    expect(clock.pending).to.deep.equal([]);
  });

  it("ends all waits under way at once, and none that begins later", async () => {
    const clock = new ManualClock();
    const pause = new Pause(clock);
    const waits = [pause.wait(50), pause.wait(100)];
    pause.end();
    await Promise.all(waits);
    let over = false;
    const later = pause.wait(10).then(() => { over = true; });
    await Promise.resolve();
    expect(over).to.equal(false);
    clock.advance(10);
    await later;
    expect(clock.pending).to.deep.equal([]);
  });
});
