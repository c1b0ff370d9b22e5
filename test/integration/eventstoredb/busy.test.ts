import { setTimeout as pause } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { LogUnavailable, noStream } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, until } from "../../contract/event-store/harness.ts";
import { OwnBench, Recorder } from "./bench.ts";

const pauseMs = 500;
const tuning = { stallMs: 1_000, pingMs: 100, readMs: 5_000 };

describe("a busy EventStoreDB", () => {
  let bench: OwnBench;
  beforeEach(async () => {
    bench = await OwnBench.start();
  });
  afterEach(() => bench.stop());

  it("keeps its connection and calls through slow answers and pauses, with pings that are late", async () => {
    const store = await bench.client({ tuning });
    const recorder = new Recorder(store, { after: "" });
    const [stream, entries] = [freshStream(), 20];
    bench.server.faults.slowDown(30);
    let late = 0;
    const writing = (async () => {
      for (let at = 0; at < entries; at += 1) await store.append(stream, at - 1, [note(String(at))]);
    })();
    for (let round = 0; round < 2; round += 1) {
      await pause(100);
      bench.server.faults.freeze();
      const pings = Promise.all([store.ping(), store.ping()].map((ping) => ping.catch(() => { late += 1; })));
      await pause(pauseMs);
      bench.server.faults.thaw();
      await pings;
    }
    await writing;
    await until("all was seen", () => recorder.entries.length === entries);
    await recorder.stop();
    expect(late).to.equal(4);
    expect(bench.server.faults.appends, "sent once each").to.equal(entries);
    expect([bench.server.connections, bench.anomalies]).to.deep.equal([1, []]);
  });

  it("notices by any answer that the server lives", async () => {
    const startedAt = performance.now();
    const store = await bench.client({ tuning });
    expect(store.answeredAt).to.equal(-Infinity);
    await store.append(freshStream(), noStream, [note("a")]);
    const appended = store.answeredAt;
    expect(appended).to.be.at.least(startedAt);
    const recorder = new Recorder(store, { after: await store.head() });
    await pause(20);
    const read = store.answeredAt;
    expect(read).to.be.above(appended);
    await (await bench.client()).append(freshStream(), noStream, [note("b")]);
    await until("the entry came", () => store.answeredAt > read);
    await recorder.stop();
  });

  it("makes the call for appends again, not the connection, when it alone falls silent", async () => {
    const store = await bench.client({ tuning: { ...tuning, stallMs: 300 } });
    bench.server.faults.dropReplies(1);
    const revisions: number[] = [];
    void store.append(freshStream(), noStream, [note("a")]).then(({ revision }) => revisions.push(revision));
    await until("it is answered", async () => {
      await store.head();
      return revisions.length > 0;
    });
    expect(revisions).to.deep.equal([0]);
    expect(bench.server.connections).to.equal(1);
  });

  it("keeps the connection when the server answers that it is too busy", async () => {
    const store = await bench.client({ tuning });
    await store.ping();
    bench.server.faults.refusedReads = { code: status.UNAVAILABLE, details: "Server Is Too Busy" };
    const before = store.answeredAt;
    expect(await failureOf(store.head())).to.be.instanceOf(LogUnavailable);
    expect(store.answeredAt).to.be.above(before);
    bench.server.faults.refusedReads = undefined;
    await store.head();
    expect(bench.server.connections).to.equal(1);
  });

  it("has its connection replaced when it answers nothing any more", async () => {
    const store = await bench.client({ tuning: { ...tuning, stallMs: 200, readMs: 300 } });
    await store.ping();
    bench.server.faults.freeze();
    expect(await failureOf(store.head())).to.be.instanceOf(LogUnavailable);
    bench.server.faults.thaw();
    await store.head();
    expect(bench.server.connections).to.equal(2);
  });

  it("tells a prompt subscription often how far the log was looked at", async () => {
    const patient = { tuning: { ...tuning, idleMs: 60_000, behindMs: 60_000 } };
    const store = await bench.client(patient);
    const recorders = await Promise.all([true, false].map(async (prompt) =>
      new Recorder(await bench.client(patient), { after: "", categories: ["tenant"], prompt })));
    await until("both are live", () => bench.server.openSubscriptions === 2);
    await pause(50);
    for (const { batches } of recorders) batches.splice(0);
    for (let at = 0; at < 100; at += 1) await store.append(freshStream(), noStream, [note(String(at))]);
    await until("it was told", () => recorders[0]!.batches.length >= 3);
    expect(recorders[1]!.batches).to.deep.equal([]);
    await Promise.all(recorders.map((recorder) => recorder.stop()));
  });
});
