import { expect } from "chai";
import { FairQueue } from "../../../../src/kernel/tools/fair-queue.ts";

const anyone = () => true;

/** A queue with these items, pushed in order. */
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

  it("passes over owners that may not go, and keeps their items' places", () => {
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

  it("removes an item from between others, once", () => {
    const queue = queued(["a", "a1"], ["a", "a2"], ["a", "a3"], ["b", "b1"]);
    expect([queue.remove("a", "a2"), queue.remove("a", "a2")]).to.deep.equal([true, false]);
    expect([queue.remove("b", "b1"), queue.waiting("b"), queue.remove("b", "b1")]).to.deep.equal([true, 0, false]);
    expect(taken(queue)).to.deep.equal(["a1", "a3"]);
    queue.push("a", "a4");
    expect([queue.remove("a", "a4"), queue.isEmpty]).to.deep.equal([true, true]);
  });

  describe("makes room", () => {
    it("by removing the newest item of the owner with most waiting", () => {
      const queue = queued(["a", "a1"], ["b", "b1"], ["b", "b2"], ["b", "b3"]);
      expect([queue.takeForRoom("a", 1), queue.size]).to.deep.equal(["b3", 3]);
      expect(taken(queue)).to.deep.equal(["a1", "b1", "b2"]);
    });

    it("for no owner that would then have as much waiting as the largest", () => {
      const queue = queued(["a", "a1"], ["b", "b1"], ["b", "b2"]);
      for (const [owner, weight] of [["a", 1], ["b", 1], ["c", 2]] as const) {
        expect([queue.takeForRoom(owner, weight), queue.size], owner).to.deep.equal([undefined, 3]);
      }
      expect(queue.takeForRoom("c", 1)).to.equal("b2");
    });

    it("by the weight of items, not their number", () => {
      const queue = new FairQueue<string>((item) => item.length);
      for (const item of ["a", "b", "c"]) queue.push("many", item);
      queue.push("large", "four");
      expect([queue.takeForRoom("new", 4), queue.takeForRoom("many", 1)]).to.deep.equal([undefined, undefined]);
      expect([queue.takeForRoom("new", 3), queue.waiting("large")]).to.deep.equal(["four", 0]);
      expect(taken(queue)).to.deep.equal(["a", "b", "c"]);
    });

    it("not while nothing waits", () => {
      const queue = queued();
      expect([queue.takeForRoom("a", 1), queue.isEmpty]).to.deep.equal([undefined, true]);
    });
  });

  it("counts waiting items, and returns all at once when cleared", () => {
    const queue = queued(["a", "a1"], ["b", "b1"], ["a", "a2"]);
    expect([queue.waiting("a"), queue.waiting("b"), queue.waiting("c")]).to.deep.equal([2, 1, 0]);
    expect(queue.clear()).to.have.members(["a1", "a2", "b1"]);
    expect([queue.waiting("a"), queue.take(anyone)]).to.deep.equal([0, undefined]);
  });
});
