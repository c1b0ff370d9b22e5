import { expect } from "chai";
import { slotCount, slotOf } from "../../../../src/kernel/domain/ordering.ts";

const slot = (by: string, payload: unknown) => slotOf({ by }, JSON.stringify(payload));

describe("the slot of an event in its destination's order", () => {
  it("is none without an order, and one for all of an ordered destination", () => {
    expect(slotOf("none", "{}")).to.equal(null);
    expect(slotOf("destination", "{}")).to.equal(slotOf("destination", "[1]"));
  });

  it("follows from the value at the pointer alone", () => {
    const one = slot("/customer/id", { customer: { id: "c-1" }, n: 1 });
    expect(slot("/customer/id", { n: 2, customer: { name: "x", id: "c-1" } })).to.equal(one);
    expect(slot("/a~1b/~0c", { "a/b": { "~c": "c-1" } })).to.equal(one);
    expect(slot("/~01", { "~1": "c-1" })).to.equal(one);
    expect(slot("/items/1", { items: ["x", "c-1"] })).to.equal(one);
    expect(slot("/", { "": "c-1" })).to.equal(one);
    expect(slot("/o", { o: { a: 1, b: [2] } })).to.equal(slot("/o", { o: { b: [2], a: 1 } }));
  });

  it("is the same for all events without a value", () => {
    const none = slot("/a/b", {});
    for (const payload of [{ a: null }, { a: "text" }, { a: { c: 1 } }, { a: [1] }, { b: 1 }]) {
      expect(slot("/a/b", payload), JSON.stringify(payload)).to.equal(none);
    }
    for (const token of ["-", "01", "length", "1"]) expect(slot(`/a/${token}`, { a: [0] }), token).to.equal(none);
    expect(slot("/toString", {})).to.equal(none);
    expect(slot("/a", { a: null })).not.to.equal(slot("/a", {}));
  });

  it("spreads values over all slots", () => {
    const slots = new Set(Array.from({ length: 2_000 }, (_, n) => slot("/n", { n })));
    const all = Array.from({ length: slotCount }, (_, n) => n);
    expect(slots).to.have.all.keys(all);
  });

  it("takes values that are nested too deeply for a text", () => {
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(slotOf({ by: "/a" }, deep)).to.be.a("number");
  });
});
