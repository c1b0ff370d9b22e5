import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { SlotTable } from "../../../../src/kernel/threads/slot-table.ts";

describe("an item in the slot table", () => {
  it("is taken once, by its own number only", () => {
    const waiting = new SlotTable<string>();
    const [one, two] = [waiting.add("one"), waiting.add("two")];
    expect(waiting.size).to.equal(2);
    expect(waiting.take(two + 1)).to.equal(undefined);
    expect(waiting.take(two)).to.equal("two");
    expect(waiting.take(two)).to.equal(undefined);
    expect(waiting.take(one)).to.equal("one");
    expect(waiting.size).to.equal(0);
  });

  it("is not found by the number of an earlier item in its slot", () => {
    const waiting = new SlotTable<string>();
    const numbers = Array.from({ length: 1_000 }, (_, at) => {
      const number = waiting.add(String(at));
      if (at < 999) waiting.take(number);
      return number;
    });
    expect(new Set(numbers)).to.have.length(1_000);
    expect(numbers.map((number) => waiting.take(number)).filter((item) => item !== undefined)).to.deep.equal(["999"]);
  });

  it("can be taken all at once", () => {
    const waiting = new SlotTable<string>();
    const numbers = ["a", "b", "c"].map((item) => waiting.add(item));
    waiting.take(numbers[1]!);
    expect(waiting.takeAll()).to.deep.equal(["a", "c"]);
    expect(waiting.size).to.equal(0);
    expect(waiting.takeAll()).to.deep.equal([]);
    waiting.add("d");
    expect(waiting.takeAll()).to.deep.equal(["d"]);
  });

  it("is one of a million at most", () => {
    const waiting = new SlotTable<null>();
    for (let added = 1; added < 2 ** 20; added += 1) waiting.add(null);
    const last = waiting.add(null);
    expect(() => waiting.add(null)).to.throw(RangeError);
    waiting.take(last);
    expect(waiting.add(null)).not.to.equal(last);
  });

  it("is not moved to V8's old generation as items come and go", () => {
    const script = fileURLToPath(new URL("churning.ts", import.meta.url));
    const flags = ["--expose-gc", "--trace-gc-nvp", "--max-semi-space-size=1"];
    const told = execFileSync(process.execPath, [...flags, script], { encoding: "utf8" });
    const promoted = Array.from(told.matchAll(/ promoted=(\d+)/g), ([, bytes]) => Number(bytes));
    expect(promoted).to.have.length.above(50);
    // With a Map, 28 of 99 million bytes are moved to the old generation: docs/adr/0024 says why.
    expect(promoted.reduce((sum, bytes) => sum + bytes, 0)).to.be.below(1_000_000);
  });
});
