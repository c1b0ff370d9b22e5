import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { SlotTable } from "../../../../src/adapters/message-port/slot-table.ts";

describe("what waits under a number", () => {
  it("is found by it once, and by no other", () => {
    const waiting = new SlotTable<string>();
    const [one, two] = [waiting.add("one"), waiting.add("two")];
    expect(waiting.size).to.equal(2);
    expect(waiting.take(two + 1)).to.equal(undefined);
    expect(waiting.take(two)).to.equal("two");
    expect(waiting.take(two)).to.equal(undefined);
    expect(waiting.take(one)).to.equal("one");
    expect(waiting.size).to.equal(0);
  });

  it("is not found by the number of what was there before", () => {
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

  it("is a million at most", () => {
    const waiting = new SlotTable<null>();
    for (let added = 1; added < 2 ** 20; added += 1) waiting.add(null);
    const last = waiting.add(null);
    expect(() => waiting.add(null)).to.throw(RangeError);
    waiting.take(last);
    expect(waiting.add(null)).not.to.equal(last);
  });

  it("does not grow old by coming and going", () => {
    const script = fileURLToPath(new URL("churning.ts", import.meta.url));
    const flags = ["--expose-gc", "--trace-gc-nvp", "--max-semi-space-size=1"];
    const told = execFileSync(process.execPath, [...flags, script], { encoding: "utf8" });
    const promoted = Array.from(told.matchAll(/ promoted=(\d+)/g), ([, bytes]) => Number(bytes));
    expect(promoted).to.have.length.above(50);
    // A Map has 28 of the 99 million bytes that come and go grow old: docs/adr/0024 says why.
    expect(promoted.reduce((sum, bytes) => sum + bytes, 0)).to.be.below(1_000_000);
  });
});
