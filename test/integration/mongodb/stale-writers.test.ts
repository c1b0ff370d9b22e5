import { expect } from "chai";
import { add, entriesOf, id, position, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { contentsOf, definitions } from "./histories.ts";
import { later, laterEnd, atFirst, begun, commandsOfBatch, expected, paused, pausedEnd } from "./interrupted.ts";
import { hasty, openProcess } from "./support.ts";

/** Enough amendments for counters of zero to be removed. */
const many = 60;

type Process = ReturnType<typeof openProcess>;

async function begin({ writer }: Process): Promise<void> {
  await writer.reset(definitions, "any");
  await writer.apply(atFirst, begun);
}

/** Applies the following entries, from the writer's own checkpoint on. */
async function goOn({ writer }: Process): Promise<void> {
  const { checkpoint } = (await writer.state())!;
  await writer.apply([...paused, ...later].filter((entry) => entry.position > checkpoint), laterEnd);
  for (let n = 0; n < many; n += 1) await writer.amend([add("busy", 0, 1)]);
}

describe("Read models in MongoDB, with a stale writer", function () {
  this.timeout(120_000);
  let url: string;
  let proxy: WireProxy;
  let stale: Process;
  let other: Process;

  before(async function () {
    await mongoDbOrSkip(this);
  });

  beforeEach(async () => {
    url = newDatabase(await sharedMongoDb());
    proxy = await WireProxy.start(url);
    other = openProcess(url);
  });

  afterEach(async () => {
    await other.connection.db.dropDatabase();
    await Promise.all([stale.close(), other.close()]);
    await proxy.close();
  });

  /** Holds the n-th write from now on, and those after it until {@link WireProxy.release}. */
  function holdFrom(n: number): void {
    const from = proxy.count + n;
    proxy.fateOf = (count) => (count >= from ? "held" : "pass");
  }

  async function release(): Promise<void> {
    expect(proxy.held).to.be.greaterThan(0);
    proxy.fateOf = () => "pass";
    await proxy.release();
  }

  for (let n = 1; n <= commandsOfBatch; n += 1) {
    it(`are unharmed by a writer that was paused at command ${n} of a transaction`, async () => {
      stale = openProcess(proxy.url);
      await begin(stale);
      holdFrom(n);
      const applying = stale.writer.apply(paused, pausedEnd).then(
        () => "applied",
        (error: Error) => error.name,
      );
      while (proxy.held === 0) await new Promise((resolve) => setImmediate(resolve));
      await goOn(other);
      const count = proxy.count;
      await release();
      // A writer that has changed nothing yet learns it from the state; later, the server has ended its transaction.
      expect(await applying).to.equal(n === 1 ? "ReadModelsTakenOver" : "ReadModelsUnavailable");
      expect(proxy.count, "nothing more is sent, which would lock documents").to.equal(count);
      const again = await stale.writer.apply(paused, pausedEnd).catch((error: Error) => error.message);
      expect(again).to.contain("taken over");
      expect(await contentsOf(other.reader)).to.deep.equal(expected);
      await other.writer.apply([], position(1000));
      expect(await other.reader.checkpoint()).to.equal(position(1000));
    });

    it(`are unharmed by command ${n} of a transaction that arrives after its writer gave it up`, async () => {
      stale = openProcess(proxy.url, { clock: hasty(25) });
      await begin(stale);
      holdFrom(n);
      const applying = stale.writer.apply(paused, pausedEnd).then(
        () => "applied",
        (error: Error) => error.name,
      );
      expect(await applying).to.equal("ReadModelsUnavailable");
      proxy.fateOf = () => "pass";
      await goOn(stale);
      await release();
      expect(await contentsOf(other.reader)).to.deep.equal(expected);
    });
  }

  it("are taken over again by a writer that begins again", async () => {
    stale = openProcess(proxy.url);
    await begin(stale);
    await goOn(other);
    expect(await stale.writer.apply([], position(900)).catch((error: Error) => error.message)).to.contain("taken over");
    const state = await stale.writer.state();
    expect(state?.checkpoint).to.equal(await other.reader.checkpoint());
    await stale.writer.apply(entriesOf([add("a", 1, 2)], 900), position(900));
    expect(await other.writer.amend([add("a", 1, 1)]).catch((error: Error) => error.message)).to.contain("taken over");
    expect(await other.reader.sum("a", 1, 1)).to.equal(2);
    expect(await stale.writer.get("things", id(1))).to.deep.equal(thing(1, { size: 7 }));
  });
});
