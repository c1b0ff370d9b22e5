import { expect } from "chai";
import { PayloadBudget } from "../../../../src/delivery/dispatch/payload-budget.ts";

describe("the payload budget", () => {
  /** The characters of each of `count` users when all take as many as allowed, one at a time. */
  function shares(room: PayloadBudget, count: number): number[] {
    const taken = new Array<number>(count).fill(0);
    for (let moved = true; moved;) {
      moved = false;
      for (const [index, own] of taken.entries()) {
        if (!room.allows(own)) continue;
        room.occupy("x");
        taken[index] = own + 1;
        moved = true;
      }
    }
    return taken;
  }

  it("is shared so that the rest equals the share of each", () => {
    expect(shares(new PayloadBudget(60), 1)).to.deep.equal([30]);
    expect(shares(new PayloadBudget(60), 2)).to.deep.equal([20, 20]);
    expect(shares(new PayloadBudget(60), 5)).to.deep.equal([10, 10, 10, 10, 10]);
  });

  it("allows one payload to a user without any, even beyond the budget", () => {
    const room = new PayloadBudget(4);
    room.occupy("larger than all of it");
    expect(room.allows(0)).to.equal(true);
    expect(room.allows(1)).to.equal(false);
    room.giveBack("larger than all of it");
    expect(room.allows(1)).to.equal(true);
  });
});
