import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { MongoExpiringState } from "../../../src/engines/mongodb/expiring-state.ts";
import { ExpiringStateUnavailable } from "../../../src/kernel/ports/expiring-state.ts";
import { ReadModelsUnavailable, type ReadModelWriter } from "../../../src/kernel/ports/read-models.ts";
import { add, id, position, put, thing } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase, type MongoDbUnderTest } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { definitions } from "./histories.ts";
import { hasty, openProcess } from "./support.ts";

/** The longest time until everything works again. */
const healedWithinMs = 30_000;
/** The longest wait for an answer that does not come, with a margin for a busy machine. */
const refusedWithinMs = 4_500;
const pingedWithinMs = 2_500;

describe("MongoDB, when its server fails", function () {
  this.timeout(120_000);
  let server: MongoDbUnderTest;
  let end = async () => {};
  let url: string;
  let process: ReturnType<typeof openProcess>;
  let state: MongoExpiringState;
  before(async function () {
    server = await mongoDbOrSkip(this, { ours: true });
    end = () => server.stop();
  });
  after(() => end());

  beforeEach(async () => {
    url = newDatabase(server);
    process = openProcess(url);
    state = new MongoExpiringState(process.connection);
    await process.writer.reset(definitions, "any");
  });
  afterEach(async () => {
    await process.close();
  });

  it("asks the primary, even when its URL prefers secondaries", async () => {
    const { setName } = await process.connection.db.command({ hello: 1 });
    const asked = new URL(url);
    asked.searchParams.set("replicaSet", setName as string);
    asked.searchParams.set("readPreference", "secondary");
    const { reader, close } = openProcess(asked.href);
    try {
      expect(await reader.settle("any")).to.equal(true);
    } finally {
      await close();
    }
  });

  const faults: Record<string, { begin(): Promise<void>; end(): Promise<void> }> = {
    killed: { begin: () => server.kill(), end: () => server.restart() },
    frozen: { begin: () => server.freeze(), end: () => server.thaw() },
  };
  for (const [name, fault] of Object.entries(faults)) {
    it(`refuses in time while it is ${name}, and recovers by itself without losing acknowledged writes`, async () => {
      const { writer, reader, connection } = process;
      let applied = 0;
      const until = { stopped: false };
      // Like a projection runner: repeats the same batch until it is applied.
      const writing = (async () => {
        while (!until.stopped) {
          const at = position(applied + 1);
          try {
            const changes = [put(thing(applied % 50, { size: applied })), add("a", 0, 1)];
            await writer.apply([{ position: at, changes }], at);
            applied += 1;
          } catch (error) {
            expect(error).to.be.instanceOf(ReadModelsUnavailable);
            await wait(20);
          }
        }
      })();
      // After any failure, too, the next test must find a working server without a writer.
      try {
        while (applied < 20) await wait(5);
        await state.put("key", "value", null);
        await fault.begin();
        try {
          expect(await refusal(() => connection.ping(), pingedWithinMs)).to.be.instanceOf(Error);
          const refusals = await Promise.all([
            refusal(() => reader.get("things", id(1)), refusedWithinMs),
            refusal(() => reader.sum("a"), refusedWithinMs),
            refusal(() => state.get(["key"]), refusedWithinMs),
            refusal(() => state.lease("role", "one", 1_000), refusedWithinMs),
          ]);
          for (const error of refusals.slice(0, 2)) expect(error).to.be.instanceOf(ReadModelsUnavailable);
          for (const error of refusals.slice(2)) expect(error).to.be.instanceOf(ExpiringStateUnavailable);
          expect(await reader.caughtUp(position(1_000_000), 500)).to.equal(false);
        } finally {
          await fault.end();
        }
        const before = applied;
        const healing = performance.now();
        while (applied < before + 20) await wait(5);
        await eventually(() => connection.ping());
        expect(performance.now() - healing).to.be.lessThan(healedWithinMs);
        expect(await state.get(["key"])).to.deep.equal(["value"]);
      } finally {
        until.stopped = true;
        await writing;
      }
      expect(await reader.sum("a")).to.equal(applied);
      expect(await reader.checkpoint()).to.equal(position(applied));
      expect((await reader.get("things", id((applied - 1) % 50)))?.["size"]).to.equal(applied - 1);
    });
  }

  it("keeps its connections, and writes under way, while a busy server pauses for seconds", async () => {
    const { writer, connection } = process;
    const change = (at: number) =>
      writer.apply([{ position: position(at), changes: [put(thing(at, { size: at }))] }], position(at));
    await change(1);
    const answeredAt = connection.answeredAt;
    let cleared = 0;
    connection.db.client.on("connectionPoolCleared", () => { cleared += 1; });
    await server.freeze();
    const writing = change(2);
    try {
      await wait(5_000);
    } finally {
      await server.thaw();
    }
    await writing;
    expect(cleared).to.equal(0);
    expect(connection.answeredAt).to.be.above(answeredAt + 4_000);
  });

  it("answers other queries while some get no answer: these free their connections", async () => {
    const proxy = await WireProxy.start(url);
    const { reader, connection, close } = openProcess(proxy.url);
    try {
      expect(await reader.get("things", id(1))).to.equal(null);
      proxy.unanswered = "g1.things";
      const asked = Array.from({ length: 60 }, () => refusal(() => reader.get("things", id(1)), refusedWithinMs));
      for (const error of await Promise.all(asked)) expect(error).to.be.instanceOf(ReadModelsUnavailable);
      expect(await reader.sum("a")).to.equal(0);
      await connection.ping();
      proxy.unanswered = undefined;
      expect(await reader.get("things", id(1))).to.equal(null);
    } finally {
      await close();
      await proxy.close();
    }
  });

  const writes: Record<string, (state: MongoExpiringState, writer: ReadModelWriter) => Promise<unknown>> = {
    values: (state) => state.put("key", "value", null),
    leases: (state) => state.lease("role", "one", 1_000),
    admissions: (state) => state.admit(["a"], { max: 1, windowMs: 1_000 }),
    "g1.things": (_, writer) => writer.apply([{ position: position(1), changes: [put(thing(1))] }], position(1)),
  };
  for (const [collection, write] of Object.entries(writes)) {
    it(`answers other commands while writes to ${collection} get no answer, over the only connection`, async () => {
      const proxy = await WireProxy.start(url);
      const { writer, connection, close } = openProcess(`${proxy.url}&maxPoolSize=1`, { clock: hasty(10) });
      const state = new MongoExpiringState(connection);
      try {
        await writer.state();
        expect(await state.get(["key"])).to.deep.equal([null]);
        proxy.unanswered = collection;
        const error = await refusal(() => write(state, writer), refusedWithinMs);
        expect(error).to.be.instanceOf(collection === "g1.things" ? ReadModelsUnavailable : ExpiringStateUnavailable);
        await connection.db.command({ ping: 1 });
        proxy.unanswered = undefined;
        await eventually(() => write(state, writer));
      } finally {
        await close();
        await proxy.close();
      }
    });
  }

  it("lets a writer take over though ending the session of its predecessor gets no answer", async () => {
    const proxy = await WireProxy.start(url);
    const { writer, connection, close } = openProcess(`${proxy.url}&maxPoolSize=1`, { clock: hasty(10) });
    try {
      await connection.ping();
      proxy.unanswered = "killSessions";
      expect((await writer.state())?.fingerprint).to.equal("any");
    } finally {
      await close();
      await proxy.close();
    }
  });

  it("is not waited for at the start, and is used as soon as it is available", async () => {
    await server.kill();
    const late = openProcess(newDatabase(server));
    const lateState = new MongoExpiringState(late.connection);
    try {
      expect(await refusal(() => late.writer.state(), refusedWithinMs)).to.be.instanceOf(ReadModelsUnavailable);
      expect(await refusal(() => lateState.get(["a"]), refusedWithinMs)).to.be.instanceOf(ExpiringStateUnavailable);
    } finally {
      await server.restart();
    }
    await eventually(() => late.connection.ping());
    expect(await late.writer.state()).to.equal(null);
    expect(await lateState.get(["a"])).to.deep.equal([null]);
    await late.close();
  });
});

/** The error that a refused call rejects with; the call must not take longer than `withinMs`. */
async function refusal(call: () => Promise<unknown>, withinMs: number): Promise<unknown> {
  const began = performance.now();
  const error: unknown = await call().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(performance.now() - began).to.be.lessThan(withinMs);
  return error;
}

async function eventually(call: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + healedWithinMs;
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(20);
    }
  }
}
