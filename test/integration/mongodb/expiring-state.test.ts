import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { MongoExpiringState } from "../../../src/engines/mongodb/expiring-state.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { eventually } from "../../support/relay.ts";
import { openProcess } from "./support.ts";

describe("Expiring state in MongoDB", function () {
  this.timeout(60_000);
  let url: string;
  let processes: ReturnType<typeof openProcess>[];
  const begin = (at = url) => {
    const process = openProcess(at);
    processes.push(process);
    return new MongoExpiringState(process.connection);
  };

  before(async function () {
    await mongoDbOrSkip(this);
  });

  beforeEach(async () => {
    url = newDatabase(await sharedMongoDb());
    processes = [openProcess(url)];
  });
  afterEach(async () => {
    await processes[0]?.connection.db.dropDatabase();
    await Promise.all(processes.map((process) => process.close()));
  });

  it("is valid for other processes until it expires by the server's clock, and no longer", async () => {
    const [state, other] = [begin(), begin()];
    const [longMs, shortMs] = [60_000, 100];
    const window = (windowMs: number) => ({ max: 1, windowMs });
    for (const [name, ms] of [["long", longMs], ["short", shortMs]] as const) {
      await state.put(name, "1", ms);
      expect(await state.lease(name, "one", ms)).to.equal(true);
      expect(await state.admit([name], window(ms))).to.not.equal(null);
    }
    await eventually(() => other.get(["short"]), ([value]) => value === null);
    await eventually(() => other.lease("short", "two", longMs), (leased) => leased);
    await eventually(() => other.admit(["short"], window(shortMs)), (slot) => slot !== null);
    expect(await other.get(["long"])).to.deep.equal(["1"]);
    expect(await other.lease("long", "two", longMs)).to.equal(false);
    expect(await other.admit(["long"], window(longMs))).to.equal(null);
  });

  it("does not let a refused claim use up a slot that another claim needs", async () => {
    const states = [begin(), begin(), begin()];
    const limit = { max: 5, windowMs: 60_000 };
    for (let n = 0; n < limit.max; n += 1) await states[0]!.admit(["z-full"], limit);
    // The full key refuses every second claim after it had a slot under the key that all ask for.
    const claims = Array.from({ length: 24 }, (_, n) => {
      const keys = n % 2 ? ["a-shared", "z-full"] : ["a-shared", `m-own-${n}`];
      return states[n % 3]!.admit(keys, limit);
    });
    const admitted = (await Promise.all(claims)).map((slot) => slot !== null);
    expect(admitted.filter((_, n) => n % 2 === 1).every((one) => !one)).to.equal(true);
    expect(admitted.filter(Boolean)).to.have.length(limit.max);
    const own = admitted.flatMap((one, n) => (n % 2 === 0 ? [[`m-own-${n}`, one] as const] : []));
    for (const [key, one] of own) {
      const left = [];
      for (let n = 0; n < limit.max; n += 1) left.push(await states[0]!.admit([key], limit));
      expect(left.filter((slot) => slot !== null)).to.have.length(one ? limit.max - 1 : limit.max);
    }
  });

  it("gives slots of refused claims back at once", async () => {
    // The clock stands still: nothing expires by itself.
    const now = new Date(Date.UTC(2100, 0));
    const state = new MongoExpiringState(processes[0]!.connection, { now: () => now });
    const limit = { max: 3, windowMs: 60_000 };
    const claims = Array.from({ length: 12 }, (_, n) => state.admit([`a-own-${n}`, "z-shared"], limit));
    const admitted = (await Promise.all(claims)).map((slot) => slot !== null);
    expect(admitted.filter(Boolean)).to.have.length(limit.max);
    for (const [n, one] of admitted.entries()) {
      const left = [];
      for (let at = 0; at < limit.max; at += 1) left.push(await state.admit([`a-own-${n}`], limit));
      expect(left.filter((slot) => slot !== null)).to.have.length(one ? limit.max - 1 : limit.max);
    }
  });

  it("does not wait long for a process that died between two keys", async () => {
    const proxy = await WireProxy.start(url);
    const dying = begin(proxy.url);
    const limit = { max: 1, windowMs: 60_000 };
    await dying.put("ready", "1", null);
    const from = proxy.count;
    proxy.fateOf = (count) => (count > from + 1 ? "lost" : "pass");
    expect(await dying.admit(["a", "b"], limit).catch((error: Error) => error.name)).to.equal(
      "ExpiringStateUnavailable",
    );
    await proxy.close();
    const state = begin();
    expect(await state.admit(["a", "b"], limit)).to.not.equal(null);
    expect(await state.admit(["b"], limit)).to.equal(null);
  });

  it("bounds the number of keys of a kind, and drops none of another kind", async () => {
    const { connection } = processes[0]!;
    const state = new MongoExpiringState(connection, { mostKeys: 10 });
    const limit = { max: 1, windowMs: 60_000 };
    await state.admit(["other:1"], limit);
    for (let n = 0; n < 59; n += 1) await state.admit([`flood:${n}`], limit);
    let kept: string[];
    do {
      await wait(10);
      const found = await connection.db.collection<{ _id: string }>("admissions").find().toArray();
      kept = found.map(({ _id: key }) => key);
    } while (kept.length > 21);
    const flood = kept.filter((key) => key !== "other:1");
    expect(kept).to.include("other:1");
    expect(flood.length).to.be.at.least(10);
    expect(flood).to.include("flood:58");
    expect(await state.admit(["flood:58"], limit)).to.equal(null);
    expect(await state.admit(["other:1"], limit)).to.equal(null);
  });

  it("is removed by the server when it has expired", async () => {
    const state = begin();
    await state.put("a", "1", 1);
    await state.lease("a", "1", 1);
    await state.admit(["a"], { max: 1, windowMs: 1 });
    const { db } = processes[0]!.connection;
    for (const name of ["values", "leases", "admissions"]) {
      const indexes = await db.collection(name).indexes();
      const ends = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds === 0);
      expect(ends.map(({ key }) => key), name).to.deep.equal([{ end: 1 }]);
      const [stored] = await db.collection(name).find().toArray();
      expect(stored?.["end"], name).to.be.instanceOf(Date);
    }
  });
});
