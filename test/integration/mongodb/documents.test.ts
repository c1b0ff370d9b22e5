import { expect } from "chai";
import fc from "fast-check";
import type { Change } from "../../../src/kernel/ports/read-models.ts";
import { entriesOf, id, position, put, thing, things } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { sized } from "../../support/size.ts";
import { openProcess } from "./support.ts";

describe("Documents in MongoDB", function () {
  this.timeout(60_000);
  let process: ReturnType<typeof openProcess>;
  let end = async () => {};

  before(async function () {
    process = openProcess(newDatabase(await mongoDbOrSkip(this)));
    end = async () => {
      await process.connection.db.dropDatabase();
      await process.close();
    };
  });
  after(() => end());

  it("are replaced by a document wrongly marked as fresh", async () => {
    const { writer } = process;
    await writer.reset([things], "any");
    await writer.apply(entriesOf([put(thing(1, { size: 1, label: "old" })), put(thing(2))]), position(2));
    const fresh = { ...put(thing(1, { size: 2 })), fresh: true } as Change;
    const another = { ...put(thing(3)), fresh: true } as Change;
    await writer.apply(entriesOf([another, fresh], 3), position(4));
    expect(await writer.get("things", id(1))).to.deep.equal(thing(1, { size: 2 }));
    expect(await writer.get("things", id(3))).to.deep.equal(thing(3));
  });

  it("come in pages with equal values ordered by key, though no index has that order", async () => {
    const definition = { ...things, indexes: [["owner", "label", "at"]] };
    const documents = fc.array(fc.option(fc.constantFrom("a", "b", "c"), { nil: null, freq: 3 }), { maxLength: 30 });
    const page = fc.record({ offset: fc.nat(12), limit: fc.integer({ min: 1, max: 12 }), descending: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(documents, fc.array(page, { minLength: 1, maxLength: 6 }), async (labels, pages) => {
        const plain = new InMemoryReadModels();
        const changes = labels.map((label, n) => put(thing(n, { owner: id(9), label })));
        for (const writer of [process.writer, plain]) {
          await writer.reset([definition], "any");
          await writer.apply(entriesOf(changes), position(changes.length));
        }
        for (const { descending, ...slice } of pages) {
          const order = { field: "label", descending };
          const query = { collection: "things", where: { owner: id(9) }, order, ...slice };
          expect(await process.writer.find(query)).to.deep.equal(await plain.find(query));
        }
      }),
      { numRuns: sized(15, 500) },
    );
  });
});
