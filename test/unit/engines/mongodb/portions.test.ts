import { expect } from "chai";
import fc from "fast-check";
import { portionsOf } from "../../../../src/engines/mongodb/operations.ts";
import type { Change } from "../../../../src/kernel/ports/read-models.ts";
import { add, entriesOf, position, put, remove, set, thing } from "../../../contract/read-models-things.ts";

const sizes = (batch: Parameters<typeof portionsOf>[0]) =>
  [...portionsOf(batch, position(9_999))].map(({ entries, upTo }) => [entries.length, Number(upTo)]);
const putting = (from: number, count: number): Change[] =>
  Array.from({ length: count }, (_, n) => put(thing(from + n)));

describe("portions of a batch", () => {
  it("are a single one where few documents and counters change, however often", () => {
    const often = Array.from({ length: 5_000 }, (_, n) => (n % 2 ? put(thing(n % 900)) : add("a", n % 90, 1)));
    expect(sizes(entriesOf(often))).to.deep.equal([[5_000, 9_999]]);
    expect(sizes([])).to.deep.equal([[0, 9_999]]);
  });

  it("end before an entry that would make them too large", () => {
    expect(sizes(entriesOf(putting(1, 2_500)))).to.deep.equal([[1_000, 1_000], [1_000, 2_000], [500, 9_999]]);
    const large = [{ position: position(2), changes: putting(1, 3_000) }];
    const around = [...entriesOf(putting(1, 1)), ...large, ...entriesOf([...putting(1, 1), ...putting(9_000, 1)], 3)];
    expect(sizes(around)).to.deep.equal([[1, 1], [1, 2], [2, 9_999]]);
  });

  it("end before an entry that would make their documents too long, counting fields of every type", () => {
    const long = "x".repeat(1_000_000);
    const fields = [{ label: long }, { extra: { long } }, { label: long, size: 1, on: true, at: null }];
    const changes = Array.from({ length: 9 }, (_, n) =>
      n % 2 ? put(thing(n, fields[n % 3])) : set(n, fields[n % 3] ?? {}));
    expect(sizes(entriesOf(changes))).to.deep.equal([[4, 4], [4, 8], [1, 9_999]]);
    expect(sizes(entriesOf(Array.from({ length: 900 }, (_, n) => remove(n))))).to.deep.equal([[900, 9_999]]);
  });

  it("cover the whole batch, in order, each up to its last entry", () => {
    const entry = fc.integer({ min: 0, max: 700 });
    fc.assert(fc.property(fc.array(entry, { maxLength: 12 }), (counts) => {
      const batch = counts.map((count, n) => ({ position: position(n + 1), changes: putting(n * 350, count) }));
      const portions = [...portionsOf(batch, position(9_999))];
      expect(portions.flatMap(({ entries }) => entries)).to.deep.equal(batch);
      for (const { entries, upTo } of portions.slice(0, -1)) expect(upTo).to.equal(entries.at(-1)?.position);
      expect(portions.at(-1)?.upTo).to.equal(position(9_999));
    }));
  });
});
