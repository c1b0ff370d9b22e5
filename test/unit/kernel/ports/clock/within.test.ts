import { expect } from "chai";
import { late, within } from "../../../../../src/kernel/ports/clock.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

describe("a task with a time limit", () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });

  it("gives its result or error, and leaves no timer behind", async () => {
    expect(await within(clock, 50, Promise.resolve("done"))).to.equal("done");
    const reason = new Error("failed");
    expect(await within(clock, 50, Promise.reject(reason)).catch((error: unknown) => error)).to.equal(reason);
    expect(clock.pending).to.deep.equal([]);
  });

  it("is reported as late once its time is over, and its later outcome is dropped", async () => {
    const task = Promise.withResolvers<string>();
    const outcome = within(clock, 50, task.promise);
    clock.advance(50);
    expect(await outcome).to.equal(late);
    task.reject(new Error("nobody hears of it"));
    expect(clock.pending).to.deep.equal([]);
  });
});
