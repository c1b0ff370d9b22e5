import { expect } from "chai";
import { FairQueue } from "../../../../src/adapters/fair-queue/fair-queue.ts";

const anyone = () => true;

/** A queue with items pushed in order, and all that is taken from it until nothing is left. */
function queued(...items: readonly (readonly [owner: string, item: string])[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [owner, item] of items) queue.push(owner, item);
  return queue;
}

function taken(queue: FairQueue<string>, may: (owner: string) => boolean = anyone): string[] {
  const items: string[] = [];
  for (let item = queue.take(may); item !== undefined; item = queue.take(may)) items.push(item);
  return items;
}

describe("the queue by owner", () => {
  it("gives every owner a turn, and each its items in order", () => {
    const queue = queued(["a", "a1"], ["a", "a2"], ["a", "a3"], ["b", "b1"], ["c", "c1"], ["c", "c2"]);
    expect(taken(queue)).to.deep.equal(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect(queue.isEmpty).to.equal(true);
  });

  it("passes over who may not, without losing the place of its items", () => {
    const queue = queued(["a", "a1"], ["b", "b1"], ["a", "a2"]);
    const notA = (owner: string) => owner !== "a";
    expect([taken(queue, notA), queue.isEmpty]).to.deep.equal([["b1"], false]);
    expect(taken(queue)).to.deep.equal(["a1", "a2"]);
  });

  it("puts an item back before the others of its owner", () => {
    const queue = queued(["a", "a1"], ["a", "a2"]);
    const first = queue.take(anyone);
    queue.putBack("a", first ?? expect.fail());
    expect([queue.waiting("a"), taken(queue)]).to.deep.equal([2, ["a1", "a2"]]);
    queue.putBack("b", "b1");
    expect(taken(queue)).to.deep.equal(["b1"]);
  });

  it("lets an item go from between others, once", () => {
    const queue = queued(["a", "a1"], ["a", "a2"], ["a", "a3"], ["b", "b1"]);
    expect([queue.remove("a", "a2"), queue.remove("a", "a2")]).to.deep.equal([true, false]);
    expect([queue.remove("b", "b1"), queue.waiting("b"), queue.remove("b", "b1")]).to.deep.equal([true, 0, false]);
    expect(taken(queue)).to.deep.equal(["a1", "a3"]);
    queue.push("a", "a4");
    expect([queue.remove("a", "a4"), queue.isEmpty]).to.deep.equal([true, true]);
  });

  it("knows who has most waiting, and takes the newest of that out", () => {
    const queue = queued(["a", "a1"], ["b", "b1"], ["b", "b2"], ["c", "c1"]);
    expect([queue.size, queue.heaviest(), queue.takeNewest("b"), queue.takeNewest("c")]).to.deep.equal([
      4, "b", "b2", "c1",
    ]);
    expect([queue.size, queue.heaviest(), queue.takeNewest("c")]).to.deep.equal([2, "a", undefined]);
    expect(taken(queue)).to.deep.equal(["a1", "b1"]);
    expect([queue.size, queue.heaviest()]).to.deep.equal([0, undefined]);
  });

  it("knows whose items weigh most, whatever their number", () => {
    const queue = new FairQueue<string>((item) => item.length);
    for (const item of ["a", "b", "c"]) queue.push("many", item);
    queue.push("large", "four");
    expect([queue.heaviest(), queue.weight("large"), queue.weight("many"), queue.weight("none")]).to.deep.equal([
      "large", 4, 3, 0,
    ]);
  });

  it("forgets an owner whose only item was taken out as the newest", () => {
    const queue = queued(["a", "a1"], ["b", "b1"]);
    expect([queue.takeNewest("a"), queue.take(anyone), queue.isEmpty]).to.deep.equal(["a1", "b1", true]);
  });

  it("says how many wait, and gives up all at once", () => {
    const queue = queued(["a", "a1"], ["b", "b1"], ["a", "a2"]);
    expect([queue.waiting("a"), queue.waiting("b"), queue.waiting("c")]).to.deep.equal([2, 1, 0]);
    expect(queue.clear()).to.have.members(["a1", "a2", "b1"]);
    expect([queue.waiting("a"), queue.take(anyone)]).to.deep.equal([0, undefined]);
  });
});
