import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { add, id, position, put, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, type MongoDbUnderTest } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

describe("A batch for MongoDB that is larger than a document may be", function () {
  this.timeout(120_000);
  // One of its own: what such batches take from a server, other tests would wait for.
  let server: MongoDbUnderTest | undefined;
  before(async function () {
    server = await mongoDbOrSkip(this, { ours: true });
  });
  after(() => server?.stop());

  it("is carried out by the next writer, and leaves nothing else behind", async () => {
    const url = newDatabase(server ?? expect.fail("no server"));
    const label = () => randomBytes(2_000_000).toString("base64");
    const labels = Array.from({ length: 10 }, label);
    const batch = [{
      position: position(1),
      changes: [...labels.map((text, n) => put(thing(n, { label: text }))), add("a", 0, 5)],
    }];
    const proxy = await WireProxy.start(url);
    const first = openProcess(proxy.url);
    await first.writer.reset([{ ...definitions[0]!, indexes: [] }], "any");
    let updates = 0;
    // Its parts are stored and it is begun; then the documents come.
    const partsAndState = Math.ceil(labels.length * 2_000_000 / (8 * 1024 * 1024)) + 1;
    proxy.fateOf = () => ((updates += 1) > partsAndState ? "lost" : "pass");
    expect(await first.writer.apply(batch, position(1)).catch((error: Error) => error.name)).to.equal(
      "ReadModelsUnavailable",
    );
    await proxy.close();
    await first.close();
    const next = openProcess(url);
    try {
      expect(await next.connection.db.collection("intents").countDocuments()).to.equal(partsAndState - 1);
      expect((await next.writer.state())?.checkpoint).to.equal(position(1));
      for (const [n, text] of labels.entries()) {
        expect((await next.writer.get("things", id(n)))?.["label"] === text, `label ${n}`).to.equal(true);
      }
      expect(await next.reader.sum("a")).to.equal(5);
      expect(await next.connection.db.collection("intents").countDocuments()).to.equal(0);
    } finally {
      await next.connection.db.dropDatabase();
      await next.close();
    }
  });

  it("leaves nothing behind when it is written", async () => {
    const { connection, writer, close } = openProcess(newDatabase(server ?? expect.fail("no server")));
    try {
      await writer.reset([{ ...definitions[0]!, indexes: [] }], "any");
      const label = randomBytes(200_000).toString("base64");
      await writer.apply([{ position: position(1), changes: [put(thing(1, { label }))] }], position(1));
      expect((await writer.get("things", id(1)))?.["label"] === label).to.equal(true);
      expect(await connection.db.collection("intents").countDocuments()).to.equal(0);
    } finally {
      await connection.db.dropDatabase();
      await close();
    }
  });

  it("leaves nothing behind either when its writer died before it was begun", async () => {
    const url = newDatabase(server ?? expect.fail("no server"));
    const proxy = await WireProxy.start(url);
    const first = openProcess(proxy.url);
    await first.writer.reset([{ ...definitions[0]!, indexes: [] }], "any");
    let updates = 0;
    proxy.fateOf = () => ((updates += 1) > 1 ? "lost" : "pass");
    const label = randomBytes(200_000).toString("base64");
    await first.writer.apply([{ position: position(1), changes: [put(thing(1, { label }))] }], position(1)).catch(
      () => undefined,
    );
    await proxy.close();
    await first.close();
    const next = openProcess(url);
    try {
      const parts = next.connection.db.collection("intents");
      expect(await parts.countDocuments()).to.equal(1);
      expect((await next.writer.state())?.checkpoint).to.equal("");
      expect(await parts.countDocuments()).to.equal(0);
    } finally {
      await next.connection.db.dropDatabase();
      await next.close();
    }
  });
});
