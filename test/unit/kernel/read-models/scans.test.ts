import { expect } from "chai";
import fc from "fast-check";
import type { Query, Collection } from "../../../../src/kernel/ports/read-models.ts";
import { everyDocument, pagesOf } from "../../../../src/kernel/read-models/scans.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";

type Thing = { readonly id: string; readonly owner: string };
const things: Collection<Thing> = {
  name: "things",
  key: "id",
  fields: { id: "text", owner: "text" },
  indexes: [["owner"]],
};
const idOf = (n: number) => String(n).padStart(4, "0");

describe("pages of a collection", () => {
  const many = 60;
  const numbers = fc.uniqueArray(fc.nat(many - 1), { maxLength: many });
  const range = fc.record({ from: fc.nat(many).map(idOf), to: fc.nat(many).map(idOf) }, { requiredKeys: [] });

  it("have every document that stays once, in order, while others come and go, by small queries", async () => {
    const sizes = fc.integer({ min: 1, max: 9 });
    const chances = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(numbers, range, sizes, chances, async (there, within, size, chance) => {
        const models = new InMemoryReadModels();
        await models.reset([things], "any");
        const put = (id: string) =>
          models.amend([{ op: "put", collection: "things", key: id, document: { id, owner: "a" } }]);
        for (const n of there) await put(idOf(n));
        const limits: number[] = [];
        const find = (query: Query) => {
          limits.push(query.limit);
          return models.find(query);
        };
        const asked = { where: { owner: "a" }, range: { field: "id", ...within }, size };
        const found: Thing[] = [];
        const disturbed = new Set<string>();
        for await (const page of pagesOf({ find }, things, asked)) {
          expect(page.length).to.be.within(1, size + 1);
          found.push(...page);
          // Some documents of the page are removed, as after their work is done; another goes, and another comes.
          const dealtWith = page.filter(() => (chance.next().value as number) % 2 === 0);
          const [gone, come] = [0, 0].map(() => idOf((chance.next().value as number) % many)) as [string, string];
          disturbed.add(gone).add(come);
          for (const key of [...dealtWith.map(({ id }) => id), gone]) {
            await models.amend([{ op: "remove", collection: "things", key }]);
          }
          await put(come);
        }
        const isWithin = (id: string) => id >= (within.from ?? "") && id <= (within.to ?? "9");
        const ids = found.map(({ id }) => id);
        expect(ids.filter((id) => !disturbed.has(id))).to.deep.equal(
          there.map(idOf).filter((id) => isWithin(id) && !disturbed.has(id)).sort());
        expect(ids).to.deep.equal([...new Set(ids)].sort());
        expect(ids.every(isWithin)).to.equal(true);
        expect(Math.max(0, ...limits)).to.be.at.most(size + 1);
      }),
      { numRuns: 300 },
    );
  });

  it("are every document together, also of a large collection", async () => {
    const models = new InMemoryReadModels();
    await models.reset([things], "any");
    const ids = Array.from({ length: 1_201 }, (_, n) => idOf(n));
    await models.amend(ids.flatMap((id) =>
      ["a", "b"].map((owner) => {
        const key = owner + id;
        return { op: "put", collection: "things", key, document: { id: key, owner } } as const;
      })));
    const found = await everyDocument(models, things, { where: { owner: "b" } });
    expect(found.map(({ id }) => id)).to.deep.equal(ids.map((id) => `b${id}`));
  });
});
