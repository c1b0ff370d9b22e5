import { expect } from "chai";
import { throttled } from "../../../packages/dashboard/src/live/throttled.ts";

describe("a throttled act", () => {
  it("runs at once, then once for all the calls made meanwhile, and not before it has ended", async () => {
    const ends: (() => void)[] = [];
    const call = throttled(() => new Promise<void>((resolve) => ends.push(resolve)), 1);
    call();
    expect(ends).to.have.length(1);
    call();
    call();
    expect(ends).to.have.length(1);
    ends[0]!();
    while (ends.length < 2) await new Promise((resolve) => setTimeout(resolve));
    ends[1]!();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(ends).to.have.length(2);
    call();
    expect(ends).to.have.length(3);
  });

  it("waits between two runs", async () => {
    const at: number[] = [];
    const call = throttled(() => at.push(performance.now()), 50);
    call();
    call();
    while (at.length < 2) await new Promise((resolve) => setTimeout(resolve));
    expect(at[1]! - at[0]!).to.be.at.least(49);
  });
});
