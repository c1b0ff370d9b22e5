import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { definitionsOf } from "../../../src/engines/mongodb/generation.ts";
import { MongoReadModels } from "../../../src/engines/mongodb/read-models.ts";
import { logStart } from "../../../src/kernel/ports/event-store.ts";
import { ReadModelsUnavailable } from "../../../src/kernel/ports/read-models.ts";
import { add, id, position, put, thing, things } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../../support/engines/mongodb.ts";
import { definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

const count = 300;
const batchOf = (version: number) => [
  { position: position(1), changes: Array.from({ length: count }, (_, n) => put(thing(n, { size: version }))) },
  { position: position(2), changes: [add("a", 0, version)] },
];

/** Ignores ReadModelsUnavailable: a busy machine may be late. Pauses, since without a connection it comes at once. */
async function unlessLate(error: unknown): Promise<undefined> {
  if (!(error instanceof ReadModelsUnavailable)) throw error;
  await wait(10);
  return undefined;
}

describe("Read models in MongoDB, built again", function () {
  this.timeout(60_000);
  let url: string;
  let writing: ReturnType<typeof openProcess>;
  let reading: ReturnType<typeof openProcess>;

  before(async function () {
    await mongoDbOrSkip(this);
  });

  beforeEach(async () => {
    url = newDatabase(await sharedMongoDb());
    writing = openProcess(url, { dropAfterMs: 300 });
    reading = openProcess(url);
    await writing.writer.reset(definitions, "first");
    await writing.writer.apply(batchOf(1), position(2));
  });

  afterEach(async () => {
    await writing.connection.db.dropDatabase();
    await Promise.all([writing.close(), reading.close()]);
  });

  /** Holds back the next answer to the reading process; `given` resolves once the server gave it. */
  function holdBackAnAnswer(): { readonly given: Promise<void>; readonly arrive: () => void } {
    const { connection } = reading;
    const [given, arrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reach = connection.reach.bind(connection);
    connection.reach = async (...asked) => {
      connection.reach = reach;
      const answer = await reach(...asked);
      given.resolve();
      await arrival.promise;
      return answer;
    };
    return { given: given.promise, arrive: arrival.resolve };
  }

  /** The numbers of the generations that have collections. */
  async function generations(): Promise<string[]> {
    const found = await reading.connection.db.listCollections({}, { nameOnly: true }).toArray();
    const numbered = found.flatMap(({ name }) => /^g(\d+)\./.exec(name)?.[1] ?? []);
    return [...new Set(numbered)].toSorted();
  }

  /**
   * Waits for the definitions, which are deleted last, and lists the collections only once: under repeated listing,
   * the packaged server may show a dropped collection for ever.
   */
  async function untilGenerationsAre(...expected: string[]): Promise<void> {
    const defined = definitionsOf(reading.connection);
    while ((await defined.countDocuments()) !== expected.length) await wait(20);
    expect(await generations()).to.deep.equal(expected);
  }

  it("answer from the complete old generation until the new one replaces it at once", async () => {
    const seen = new Set<unknown>();
    let answers = 0;
    const until = { stopped: false };
    const ask = async () => {
      const documents = await reading.reader
        .find({ collection: "things", order: { field: "id", descending: false }, limit: 1000 })
        .catch(unlessLate);
      if (!documents) return;
      expect(documents).to.have.length(count);
      const sizes = new Set(documents.map(({ size }) => size));
      expect(sizes.size).to.equal(1);
      seen.add([...sizes][0]);
      answers += 1;
    };
    const readers = [1, 2].map(async () => {
      while (!until.stopped) await ask();
    });
    try {
      const { writer } = writing;
      await writer.reset(definitions, "second");
      await writer.apply(batchOf(2), position(2));
      // Two queries may have started before the rebuild.
      for (const enough = answers + 3; answers < enough;) await wait(20);
      expect([...seen]).to.deep.equal([1]);
      expect(await reading.reader.sum("a")).to.equal(1);
      expect((await writer.get("things", id(0)))?.["size"]).to.equal(2);
      expect(await writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "second" });
      await writer.publish();
      await untilGenerationsAre("2");
      await ask();
      expect(await reading.reader.sum("a")).to.equal(2);
    } finally {
      until.stopped = true;
      await Promise.all(readers);
    }
    expect([...seen]).to.deep.equal([1, 2]);
  });

  it("are not taken for the old generation by an answer that a later one overtook", async () => {
    const { connection } = reading;
    const reader = new MongoReadModels(connection, { freshMs: 60_000 });
    const overtaken = holdBackAnAnswer();
    const early = reader.settle("first");
    await overtaken.given;
    const { writer } = writing;
    await writer.reset(definitions, "second");
    await writer.apply(batchOf(2), position(2));
    await writer.publish();
    expect(await reader.settle("second")).to.equal(true);
    overtaken.arrive();
    expect(await early).to.equal(true);
    expect(await reader.sum("a")).to.equal(2);
  });

  it("do not keep their checkpoint by an answer given before they were lost", async () => {
    const { connection, reader } = reading;
    const overtaken = holdBackAnAnswer();
    const early = reader.caughtUp(position(2), 10_000);
    await overtaken.given;
    await connection.db.dropDatabase();
    const late = reader.checkpoint();
    overtaken.arrive();
    expect(await early).to.equal(true);
    expect(await late).to.equal(logStart);
  });

  it("are settled before and after a rebuild, and not during it", async () => {
    const settled = () => Promise.all(["first", "second"].map((one) => reading.reader.settle(one)));
    expect(await settled()).to.deep.equal([true, false]);
    await writing.writer.reset(definitions, "second");
    expect(await settled()).to.deep.equal([false, false]);
    await writing.writer.publish();
    expect(await settled()).to.deep.equal([false, true]);
  });

  it("are continued by a writer that starts after a crash, before and after the swap", async () => {
    await writing.writer.reset([things], "second");
    await writing.close();
    writing = openProcess(url, { dropAfterMs: 50 });
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "second" });
    expect((await reading.reader.get("things", id(0)))?.["size"]).to.equal(1);
    await writing.writer.apply(batchOf(3), position(2));
    await writing.writer.publish();
    // The writer dies before it has dropped the old generation.
    await writing.close();
    expect(await generations()).to.deep.equal(["1", "2"]);
    writing = openProcess(url, { dropAfterMs: 50 });
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "second" });
    await untilGenerationsAre("2");
    expect((await reading.reader.get("things", id(0)))?.["size"]).to.equal(3);
  });

  it("leave nothing of the old generation when published without readers, also at a second try", async () => {
    const { writer } = writing;
    await writer.reset(definitions, "second");
    await writer.apply(batchOf(2), position(2));
    const drop = writing.connection.db.dropCollection.bind(writing.connection.db);
    writing.connection.db.dropCollection = async () => {
      throw new Error("away");
    };
    expect(await writer.publish({ alone: true }).catch((error: unknown) => error)).to.be.instanceOf(Error);
    writing.connection.db.dropCollection = drop;
    await writer.publish({ alone: true });
    expect(await generations()).to.deep.equal(["2"]);
    expect(await reading.reader.sum("a")).to.equal(2);
    expect(await writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "second" });
  });

  it("leave nothing of a generation whose creation failed before it was recorded", async () => {
    const { db } = writing.connection;
    const createCollection = db.createCollection.bind(db);
    db.createCollection = async (...asked) => {
      await createCollection(...asked);
      throw new Error("away");
    };
    expect(await writing.writer.reset(definitions, "second").catch((error: unknown) => error)).to.be.instanceOf(Error);
    db.createCollection = createCollection;
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "first" });
    await untilGenerationsAre("1");
  });

  it("leave nothing of a generation that was superseded while it was built", async () => {
    await writing.writer.reset(definitions, "second");
    await writing.writer.apply(batchOf(2), position(2));
    await writing.writer.reset(definitions, "third");
    await untilGenerationsAre("1", "3");
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "third" });
    expect(await reading.reader.sum("a")).to.equal(1);
  });
});
