import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { definitionsOf } from "../../../src/adapters/mongodb/generation.ts";
import { MongoReadModels } from "../../../src/adapters/mongodb/read-models.ts";
import { logStart } from "../../../src/ports/event-store.ts";
import { ReadModelsUnavailable } from "../../../src/ports/read-models.ts";
import { add, id, position, put, thing, things } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../../support/engines/mongodb.ts";
import { definitions } from "./histories.ts";
import { openProcess } from "./support.ts";

const count = 300;
const batchOf = (version: number) => [
  { position: position(1), changes: Array.from({ length: count }, (_, n) => put(thing(n, { size: version }))) },
  { position: position(2), changes: [add("a", 0, version)] },
];

/** A busy machine may not answer in time; what counts is what it answers. Without a connection it refuses at once. */
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

  /** Holds back the answer to what the reading process asks next: when it is given, and what lets it arrive. */
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

  /** The numbers of the generations that there are collections of. */
  async function generations(): Promise<string[]> {
    const found = await reading.connection.db.listCollections({}, { nameOnly: true }).toArray();
    const numbered = found.flatMap(({ name }) => /^g(\d+)\./.exec(name)?.[1] ?? []);
    return [...new Set(numbered)].toSorted();
  }

  /**
   * Waits by what is deleted last, and looks at the collections once: asked again and again meanwhile, the packaged
   * server may show a collection for ever that it said was dropped.
   */
  async function untilGenerationsAre(...expected: string[]): Promise<void> {
    const defined = definitionsOf(reading.connection);
    while ((await defined.countDocuments()) !== expected.length) await wait(20);
    expect(await generations()).to.deep.equal(expected);
  }

  it("go on answering from what there was, whole, until the new ones take their place at once", async () => {
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
      // Two may have been asked before.
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

  it("are not taken for what they were before, where an answer about them was overtaken by a later one", async () => {
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

  it("are not said to be where they were by an answer that was given before they were lost", async () => {
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

  it("are settled before and after, and not while others are built to take their place", async () => {
    const settled = () => Promise.all(["first", "second"].map((one) => reading.reader.settle(one)));
    expect(await settled()).to.deep.equal([true, false]);
    await writing.writer.reset(definitions, "second");
    expect(await settled()).to.deep.equal([false, false]);
    await writing.writer.publish();
    expect(await settled()).to.deep.equal([false, true]);
  });

  it("are carried on with by a writer that starts after a crash, before and after the swap", async () => {
    await writing.writer.reset([things], "second");
    await writing.close();
    writing = openProcess(url, { dropAfterMs: 50 });
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "second" });
    expect((await reading.reader.get("things", id(0)))?.["size"]).to.equal(1);
    await writing.writer.apply(batchOf(3), position(2));
    await writing.writer.publish();
    // It dies before it has dropped what was.
    await writing.close();
    expect(await generations()).to.deep.equal(["1", "2"]);
    writing = openProcess(url, { dropAfterMs: 50 });
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "second" });
    await untilGenerationsAre("2");
    expect((await reading.reader.get("things", id(0)))?.["size"]).to.equal(3);
  });

  it("leave nothing of what was where nobody asks meanwhile, however often that is said", async () => {
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

  it("leave nothing of a building that was given up before it was known", async () => {
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

  it("leave nothing of a building that another took the place of", async () => {
    await writing.writer.reset(definitions, "second");
    await writing.writer.apply(batchOf(2), position(2));
    await writing.writer.reset(definitions, "third");
    await untilGenerationsAre("1", "3");
    expect(await writing.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "third" });
    expect(await reading.reader.sum("a")).to.equal(1);
  });
});
