import { expect } from "chai";
import { add, entriesOf, id, position, put, remove, set, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { contentsOf, definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

const atFirst = entriesOf([put(thing(1, { size: 1 })), put(thing(2, { size: 1 })), add("a", 0, 1)]);
const next = entriesOf([put(thing(3)), set(1, { size: 5 }), remove(2), add("a", 0, 4)], atFirst.length + 1);
const [begun, end] = [position(atFirst.length), position(atFirst.length + next.length)];
/** The state, both kinds of change of documents, the counter, the commit. */
const writes = 5;

describe("Read models in MongoDB, in the middle of a batch", function () {
  this.timeout(120_000);
  let server: Awaited<ReturnType<typeof mongoDbOrSkip>>;
  before(async function () {
    server = await mongoDbOrSkip(this);
  });

  it("show nothing of the batch before all of it is committed", async () => {
    const url = newDatabase(server);
    const proxy = await WireProxy.start(url);
    const [writing, asking] = [openProcess(proxy.url), openProcess(url)];
    try {
      await writing.writer.reset(definitions, "any");
      await writing.writer.apply(atFirst, begun);
      const old = await contentsOf(asking.reader);
      proxy.fateOf = () => "held";
      const applying = writing.writer.apply(next, end).then(() => true);
      const turn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
      let looks = 0;
      while (!(await Promise.race([applying, turn()]))) {
        if (proxy.held === 0) continue;
        expect(await contentsOf(asking.reader)).to.deep.equal(old);
        expect(await asking.reader.standsAt(begun)).to.equal(true);
        expect(await asking.reader.standsAt(end)).to.equal(false);
        looks += 1;
        await proxy.release();
      }
      expect(looks).to.equal(writes);
      expect(await asking.reader.standsAt(begun)).to.equal(false);
      expect(await asking.reader.standsAt(end)).to.equal(true);
      expect((await asking.reader.get("things", id(1)))?.["size"]).to.equal(5);
    } finally {
      proxy.fateOf = () => "pass";
      await proxy.release();
      await asking.connection.db.dropDatabase();
      await Promise.all([writing.close(), asking.close()]);
      await proxy.close();
    }
  });
});
