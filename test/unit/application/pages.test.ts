import { expect } from "chai";
import fc from "fast-check";
import { pagesInTime } from "../../../src/application/pages.ts";
import type { CollectionDefinition, Document, Query } from "../../../src/ports/read-models.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";

const things: CollectionDefinition = {
  name: "things",
  key: "id",
  fields: { id: "text", owner: "text", at: "time" },
  indexes: [["owner", "at"]],
};
const time = (n: number) => new Date(1_700_000_000_000 + n).toISOString();
const idOf = (n: number) => String(n).padStart(4, "0");

describe("pages in time", () => {
  const times = fc.array(fc.nat(6), { maxLength: 60 });
  const range = fc.record({ from: fc.nat(6).map(time), to: fc.nat(6).map(time) }, { requiredKeys: [] });

  it("have every document that stays once, in order, whatever comes and goes, for no more than they need", async () => {
    const sizes = fc.integer({ min: 1, max: 9 });
    const chances = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(times, range, sizes, chances, async (ats, within, size, chance) => {
        const models = new InMemoryReadModels();
        await models.reset([things], "any");
        const put = (n: number, at: number) =>
          models.amend([
            { op: "put", collection: "things", key: idOf(n), document: { id: idOf(n), owner: "a", at: time(at) } },
          ]);
        for (const [n, at] of ats.entries()) await put(n, at);
        const limits: number[] = [];
        const find = (query: Query) => {
          limits.push(query.limit);
          return models.find(query);
        };
        const selection = { collection: "things", where: { owner: "a" }, range: { field: "at", ...within } };
        const found: Document[] = [];
        const disturbed = new Set<string>();
        for await (const page of pagesInTime({ find }, selection, { field: "at", key: "id", size })) {
          found.push(...page);
          // What was handed out is dealt with, and something else goes or comes.
          const dealtWith = page.filter(() => (chance.next().value as number) % 2 === 0);
          const other = idOf((chance.next().value as number) % Math.max(ats.length, 1));
          disturbed.add(other);
          for (const key of [...dealtWith.map(({ id }) => id as string), other]) {
            await models.amend([{ op: "remove", collection: "things", key }]);
          }
          const come = 1_000 + found.length;
          disturbed.add(idOf(come));
          await put(come, (chance.next().value as number) % 7);
        }
        const within_ = (at: number) => time(at) >= (within.from ?? "") && time(at) <= (within.to ?? "9");
        const expected = [...ats.entries()].filter(([n, at]) => within_(at) && !disturbed.has(idOf(n)));
        const steady = found.filter(({ id }) => !disturbed.has(id as string));
        expect(steady.map(({ id }) => id)).to.have.members(expected.map(([n]) => idOf(n)));
        const seen = found.map(({ at }) => at as string);
        expect(seen).to.deep.equal([...seen].sort());
        expect(new Set(found.map(({ id }) => id)).size).to.equal(found.length);
        const byTime = Map.groupBy(found, ({ at }) => at);
        const tied = Math.max(0, ...[...byTime.values()].map((same) => same.length));
        expect(Math.max(0, ...limits)).to.be.at.most(size + tied);
      }),
      { numRuns: 300 },
    );
  });
});
