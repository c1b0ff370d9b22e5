import { expect } from "chai";
import { Binary, MongoClient, type Db } from "mongodb";
import { add, entriesOf, id, position, put, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

interface State { readonly _id: string }

const label = "as version 0.2 left it";
/** Read models of 0.2, whose writer was killed in the middle of a batch, as documents of the database. */
async function leaveVersion02(db: Db): Promise<void> {
  const generation = {
    number: 1, fingerprint: "any", checkpoint: position(3), batch: 7,
    pending: { batch: 8, checkpoint: position(4), body: null, parts: 1, id: "0000000000000004/1/8" },
  };
  await db.collection<State>("state").insertOne({
    _id: "read-models", ...{ epoch: 4, writer: "f7f5e7c8", generations: 1, current: generation, building: null },
  });
  await db.collection<{ _id: string }>("intents").insertOne({
    _id: "0000000000000004/1/8/0000", ...{ body: new Binary(Buffer.from("compressed")) },
  });
  await db.collection<{ _id: number }>("generations").insertOne({
    _id: 1, ...{ definitions: JSON.stringify(definitions) },
  });
  for (const name of ["g1.things", "g1.notes", "g1.counters"]) {
    await db.createCollection(name, { validator: { _e: { $gte: 4 } } });
  }
  const key = new Binary(Buffer.from(id(1).replaceAll("-", ""), "hex"), Binary.SUBTYPE_UUID);
  await db.collection<{ _id: Binary }>("g1.things").insertOne({ _id: key, ...{ label, _b: 7, _e: 4 } });
}

/** The first actions of 0.2 when it returns: it takes over, and sets validators. */
async function returnToVersion02(db: Db, generation: number): Promise<void> {
  await db.collection<State>("state").updateOne(
    { _id: "read-models" }, { $inc: { epoch: 1 }, $set: { writer: "0f4c1c57" } });
  for (const name of ["things", "notes", "counters"]) {
    await db.command({ collMod: `g${generation}.${name}`, validator: { _e: { $gte: 1 } } });
  }
}

describe("Read models in MongoDB, of other versions", function () {
  this.timeout(60_000);
  let client: MongoClient;
  let process: ReturnType<typeof openProcess>;

  before(async function () {
    await mongoDbOrSkip(this);
  });

  beforeEach(async function () {
    const url = newDatabase(await mongoDbOrSkip(this));
    client = await MongoClient.connect(url);
    process = openProcess(url, { dropAfterMs: 50 });
  });

  afterEach(async () => {
    await client.db().dropDatabase();
    await process.close();
    await client.close();
  });

  /** Rebuilds the read models, as a projection runner does when the fingerprint differs. */
  async function build(size: number): Promise<void> {
    const { writer, reader } = process;
    expect((await writer.state())?.fingerprint).to.not.equal("any");
    await writer.reset(definitions, "any");
    await writer.apply(entriesOf([put(thing(1, { size })), add("a", 0, size)]), position(2));
    await writer.publish();
    expect(await writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "any" });
    expect(await reader.get("things", id(1))).to.deep.equal(thing(1, { size }));
    expect(await reader.sum("a")).to.equal(size);
    expect(await reader.settle("any")).to.equal(true);
  }

  it("answer as 0.2 left them until they are rebuilt, and leave nothing of 0.2", async () => {
    const { reader, writer } = process;
    await leaveVersion02(client.db());
    expect(await reader.settle("any")).to.equal(false);
    await writer.state();
    expect((await reader.get("things", id(1)))?.["label"]).to.equal(label);
    await build(1);
    await writer.publish({ alone: true });
    const names = (await client.db().listCollections().toArray()).map(({ name }) => name);
    expect(names.toSorted()).to.deep.equal(["g2.counters", "g2.notes", "g2.things", "generations", "state"]);
  });

  it("are rebuilt after 0.2 took over in between, whose validators refuse new documents", async () => {
    const { writer, reader } = process;
    await writer.reset(definitions, "any");
    await writer.apply(entriesOf([put(thing(1, { label })), add("a", 0, 1)]), position(2));
    await returnToVersion02(client.db(), 1);
    const error: unknown = await writer.apply([], position(3)).catch((reason: unknown) => reason);
    expect(error).to.have.property("name", "ReadModelsTakenOver");
    // 0.2 was stopped before it had built anything, or there would be a newer generation.
    expect((await writer.state())?.fingerprint).to.equal("");
    expect((await reader.get("things", id(1)))?.["label"]).to.equal(label);
    await build(2);
  });

  it("have no document that 0.2 would take for a fingerprint, an epoch or a batch under way", async () => {
    await process.writer.reset(definitions, "any");
    const state = await client.db().collection<State>("state").findOne();
    expect(state).to.not.have.any.keys("epoch");
    expect(state).to.have.property("current").that.does.not.have.any.keys("fingerprint", "pending");
  });
});
