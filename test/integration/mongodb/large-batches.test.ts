import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { add, entriesOf, id, position, put, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, type MongoDbUnderTest } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

const plain = [{ ...definitions[0]!, indexes: [] }];

describe("A large batch for MongoDB", function () {
  this.timeout(120_000);
  // Its own server: other tests would have to wait while a server applies such batches.
  let server: MongoDbUnderTest | undefined;
  before(async function () {
    server = await mongoDbOrSkip(this, { ours: true });
  });
  after(() => server?.stop());

  it("is applied in several transactions, each with its checkpoint, and resumed after its writer died", async () => {
    const url = newDatabase(server ?? expect.fail("no server"));
    const proxy = await WireProxy.start(url);
    const [first, next] = [openProcess(proxy.url), openProcess(url)];
    const count = 3_500;
    const changes = Array.from({ length: count }, (_, n) => [put(thing(n)), add("a", 0, 1)]);
    const batch = changes.map((some, n) => ({ position: position(n + 1), changes: some }));
    let commits = 0;
    try {
      await first.writer.reset(plain, "any");
      proxy.fateOf = (_, command) => (command === "commitTransaction" && (commits += 1) === 3 ? "lost" : "pass");
      const error: unknown = await first.writer.apply(batch, position(count)).catch((reason: unknown) => reason);
      expect(error).to.have.property("name", "ReadModelsUnavailable");
      const { checkpoint } = (await next.writer.state())!;
      // A transaction has a counter and 999 documents.
      expect(checkpoint).to.equal(position(2 * 999));
      expect(await next.reader.sum("a")).to.equal(2 * 999);
      await next.writer.apply(batch.filter((entry) => entry.position > checkpoint), position(count));
      expect(await next.reader.checkpoint()).to.equal(position(count));
      expect(await next.reader.sum("a")).to.equal(count);
      expect(await next.reader.count({ collection: "things" })).to.equal(count);
    } finally {
      await next.connection.db.dropDatabase();
      await Promise.all([first.close(), next.close()]);
      await proxy.close();
    }
  });

  it("is applied in more transactions when its documents are long", async () => {
    const url = newDatabase(server ?? expect.fail("no server"));
    const proxy = await WireProxy.start(url);
    const { connection, writer, reader, close } = openProcess(proxy.url);
    let commits = 0;
    try {
      await writer.reset(plain, "any");
      proxy.fateOf = (_, command) => {
        if (command === "commitTransaction") commits += 1;
        return "pass";
      };
      const labels = Array.from({ length: 10 }, () => randomBytes(2_000_000).toString("base64"));
      const batch = entriesOf([...labels.map((label, n) => put(thing(n, { label }))), add("a", 0, 5)]);
      await writer.apply(batch, position(batch.length));
      expect(commits).to.equal(labels.length);
      for (const [n, label] of labels.entries()) {
        expect((await writer.get("things", id(n)))?.["label"] === label, `label ${n}`).to.equal(true);
      }
      expect(await reader.sum("a")).to.equal(5);
    } finally {
      await connection.db.dropDatabase();
      await close();
      await proxy.close();
    }
  });
});
