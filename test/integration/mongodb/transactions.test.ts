import { expect } from "chai";
import { MongoClient } from "mongodb";
import { ReadModelsUnavailable } from "../../../src/kernel/ports/read-models.ts";
import { mongoDbOrSkip, newDatabase, type MongoDbUnderTest } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { eventually } from "../../support/relay.ts";
import { quiet } from "../../support/telemetry.ts";
import { contentsOf, definitions } from "./histories.ts";
import { later, laterEnd, atFirst, begun, commandsOfBatch, expected, paused, pausedEnd } from "./interrupted.ts";
import { openProcess } from "./support.ts";

describe("A transaction of MongoDB that fails", function () {
  this.timeout(120_000);
  let server: MongoDbUnderTest;
  let end = async () => {};
  let proxy: WireProxy;
  let client: MongoClient;
  let writing: ReturnType<typeof openProcess>;
  let asking: ReturnType<typeof openProcess>;

  before(async function () {
    server = await mongoDbOrSkip(this, { ours: true });
    end = () => server.stop();
  });
  after(() => end());

  beforeEach(async () => {
    const url = newDatabase(server);
    proxy = await WireProxy.start(url);
    client = await MongoClient.connect(url);
    [writing, asking] = [openProcess(proxy.url), openProcess(url)];
    await writing.writer.reset(definitions, "any");
    await writing.writer.apply(atFirst, begun);
  });
  afterEach(async () => {
    await client.close();
    await Promise.all([writing.close(), asking.close()]);
    await proxy.close();
  });

  const refusal = () => writing.writer.apply(paused, pausedEnd).then(
    () => "applied",
    (error: unknown) => (error instanceof ReadModelsUnavailable ? error.name : error),
  );

  /** Applies the batch again and the next one, as a runner does. */
  async function goOn(): Promise<void> {
    await writing.writer.apply(paused, pausedEnd);
    await writing.writer.apply(later, laterEnd);
    expect(await contentsOf(asking.reader)).to.deep.equal(expected);
  }

  it("counts once when its commit got no answer", async () => {
    proxy.fateOf = (_, command) => (command === "commitTransaction" ? "cut" : "pass");
    expect(await refusal()).to.equal("ReadModelsUnavailable");
    proxy.fateOf = () => "pass";
    // It was committed, and the next call finds that out.
    expect(await asking.reader.checkpoint()).to.equal(pausedEnd);
    await goOn();
  });

  for (let n = 1; n < commandsOfBatch; n += 1) {
    it(`is begun again when its connection ends after command ${n}`, async () => {
      const at = proxy.count + n;
      proxy.fateOf = (count) => (count === at ? "cut" : "pass");
      expect(await refusal()).to.equal("ReadModelsUnavailable");
      expect(await asking.reader.checkpoint()).to.equal(begun);
      await goOn();
    });
  }

  it("is begun again when another transaction has changed the same document", async () => {
    const session = client.startSession();
    session.startTransaction();
    const counters = client.db().collection<{ _id: string; n: number }>("g1.counters");
    await counters.updateMany({}, { $inc: { n: 100 } }, { session });
    expect(await refusal()).to.equal("ReadModelsUnavailable");
    expect(await asking.reader.checkpoint()).to.equal(begun);
    await session.abortTransaction();
    await session.endSession();
    await goOn();
  });

  it("is begun again when the primary has stepped down", async () => {
    const at = proxy.count + 3;
    proxy.fateOf = (count) => (count === at ? "held" : "pass");
    const outcome = refusal();
    while (proxy.held === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.db("admin").command({ replSetStepDown: 2, force: true });
    proxy.fateOf = () => "pass";
    await proxy.release();
    expect(await outcome).to.equal("ReadModelsUnavailable");
    await eventually(() => writing.writer.apply(paused, pausedEnd).then(() => true, () => false), Boolean, 30_000);
    await goOn();
  });

  it("is waited for, with a warning, when the server refuses to end its session", async () => {
    const warnings: string[] = [];
    const { connection, writer } = asking;
    const command = connection.db.command.bind(connection.db);
    connection.db.command = async (asked, options) => {
      if ("killSessions" in asked) throw new Error("not allowed");
      return command(asked, options);
    };
    Object.assign(connection, { logger: { ...quiet, warn: (_: object, text: string) => warnings.push(text) } });
    const at = proxy.count + commandsOfBatch;
    proxy.fateOf = (count) => (count === at ? "held" : "pass");
    const outcome = refusal();
    while (proxy.held === 0) await new Promise((resolve) => setImmediate(resolve));
    const state = await client.db().collection("state").findOne();
    let isOver = false;
    const succeed = async () => {
      await writer.state();
      await writer.apply(paused, pausedEnd);
      return true;
    };
    const applying = eventually(() => succeed().catch(() => false), Boolean, 60_000).then(() => { isOver = true; });
    while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).to.equal(false);
    await client.db().command({ killSessions: [{ id: state?.["session"] as unknown }] });
    await applying;
    proxy.fateOf = () => "pass";
    await proxy.release();
    expect(await outcome).to.equal("ReadModelsUnavailable");
    expect(warnings[0]).to.contain("session cannot be ended");
    await writer.apply(later, laterEnd);
    expect(await contentsOf(asking.reader)).to.deep.equal(expected);
  });
});
