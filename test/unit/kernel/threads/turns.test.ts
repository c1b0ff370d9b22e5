import { expect } from "chai";
import { inTurn } from "../../../../src/kernel/threads/turns.ts";

/** A piece of work that takes so long. */
function busy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe("long work in pieces", () => {
  it("leaves each turn of the event loop to others after about 10 ms, and keeps its order", async () => {
    let [turns, isOver] = [0, false];
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const done: number[] = [];
    await Promise.all(Array.from({ length: 20 }, (_, piece) => inTurn(() => {
      busy(5);
      done.push(piece);
    })));
    isOver = true;
    expect(done).to.deep.equal(Array.from({ length: 20 }, (_, piece) => piece));
    expect(turns).to.be.at.least(8);
  });

  it("begins at once in a turn that has had none", async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    let begun = false;
    const piece = inTurn(() => (begun = true));
    expect(begun).to.equal(true);
    await piece;
  });

  it("rejects with the error of a piece, and goes on with the next", async () => {
    const failed = inTurn(() => {
      throw new Error("damaged");
    });
    const next = inTurn(() => "next");
    expect(await failed.catch((error: Error) => error.message)).to.equal("damaged");
    expect(await next).to.equal("next");
  });
});
