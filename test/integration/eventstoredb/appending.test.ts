import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { jsonEvent, NO_STREAM } from "@eventstore/db-client";
import { expect } from "chai";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import {
  EntryTooLarge, LogUnavailable, noStream, RevisionConflict, UnacceptableEntry,
} from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, textOf, texts, until } from "../../contract/event-store/harness.ts";
import { Bench, OwnBench, untilAnswered } from "./bench.ts";

describe("appends to EventStoreDB", () => {
  let bench: OwnBench;
  beforeEach(async () => {
    bench = await OwnBench.start();
  });
  afterEach(() => bench.stop());

  it("gives the first answer again when a reply is lost, and writes once", async () => {
    const store = await bench.client();
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    bench.server.faults.dropReplies(1);
    const { revision, position } = await store.append(stream, 0, [note("b"), note("c")]);
    expect(bench.anomalies).to.not.deep.equal([]);
    const entries = await store.readStream(stream);
    expect(texts(entries)).to.deep.equal(["a", "b", "c"]);
    expect(entries.at(-1)).to.include({ revision, position });
  });

  it("is answered as soon as the server has committed it, although the call broke", async () => {
    const store = await bench.client({ tuning: { stallMs: 5000 } });
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    bench.server.faults.slowDown(300);
    const startedAt = performance.now();
    const appending = store.append(stream, 0, [note("b")]);
    await until("it is on its way", () => bench.server.faults.appends === 2);
    bench.server.breakConnections();
    await until("it was sent again while the first was in flight", () => bench.server.faults.appends > 2);
    expect((await appending).revision).to.equal(1);
    expect(performance.now() - startedAt).to.be.below(bench.server.faults.identicalMs);
    expect(texts(await store.readStream(stream))).to.deep.equal(["a", "b"]);
  });

  it("finds a lost append in a stream that began again, where the server does not look for it", async () => {
    const store = await bench.client();
    const stream = freshStream();
    await store.append(stream, noStream, [note("old")]);
    await store.deleteStream(stream);
    bench.server.faults.dropReplies(1);
    const { revision } = await store.append(stream, noStream, [note("a"), note("b")]);
    const entries = await store.readStream(stream);
    expect(texts(entries)).to.deep.equal(["a", "b"]);
    expect(entries.at(-1)!.revision).to.equal(revision);
    expect(await failureOf(store.append(stream, noStream, [note("late")]))).to.be.instanceOf(RevisionConflict)
      .and.to.include({ actual: revision });
  });

  it("reports a conflict when another client wrote first while a reply was lost", async () => {
    const [store, rival] = [await bench.client(), await bench.client()];
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    bench.server.faults.freeze();
    const racing = [rival, store].map((client, at) => client.append(stream, 0, [note(String(at))]));
    const settled = Promise.allSettled(racing);
    await until("both were sent again", () => bench.anomalies.length >= 2);
    bench.server.faults.thaw();
    const won = (await settled).findIndex(({ status }) => status === "fulfilled");
    const lost = await failureOf(racing[1 - won]!);
    expect(lost).to.be.instanceOf(RevisionConflict).and.to.include({ expected: 0, actual: 1 });
    expect(texts(await store.readStream(stream))).to.deep.equal(["a", String(won)]);
  });

  it("loses, duplicates and reorders no entry while connections break under hundreds of appends", async () => {
    const patient = { tuning: { appendMs: 20_000 } };
    const clients = [await bench.client(patient), await bench.client(patient)];
    const streams = Array.from({ length: 60 }, () => freshStream());
    const breaking = new AbortController();
    const breaker = (async () => {
      while (!breaking.signal.aborted) {
        await pause(40);
        bench.server.breakConnections();
      }
    })();
    try {
      await Promise.all(streams.map(async (stream, index) => {
        const store = clients[index % 2]!;
        for (let at = 0; at < 10; at++) {
          // Two appends that do not wait for each other, then an append that waits for both.
          const [first, second] = await Promise.all([0, 1].map((more) =>
            store.append(stream, 3 * at + more - 1, [note(`${3 * at + more}`)])));
          expect(second!.revision).to.equal(first!.revision + 1);
          await store.append(stream, second!.revision, [note(`${3 * at + 2}`)]);
        }
      }));
    } finally {
      breaking.abort();
      await breaker;
    }
    expect(bench.anomalies.length).to.be.greaterThan(3);
    for (const stream of streams) {
      await until("it can be read", () => clients[0]!.readStream(stream).then(() => true, () => false));
      const found = texts(await clients[0]!.readStream(stream));
      expect(found).to.deep.equal(Array.from({ length: 30 }, (_, at) => String(at)));
    }
  });

  it("gives up an append at its deadline though the server has not failed, and works afterwards", async () => {
    const store = await bench.client({ tuning: { appendMs: 400 } });
    const stream = freshStream();
    const entries = [note("a")];
    bench.server.faults.freeze();
    expect(await failureOf(store.append(stream, noStream, entries))).to.be.instanceOf(LogUnavailable);
    bench.server.faults.thaw();
    const { revision } = await untilAnswered(() => store.append(stream, noStream, entries));
    expect(revision).to.equal(0);
    expect(texts(await store.readStream(stream))).to.deep.equal(["a"]);
  });

  it("survives a reply to an append that it has given up", async () => {
    const store = await bench.client({ tuning: { appendMs: 60, stallMs: 5000 } });
    const stream = freshStream();
    bench.server.faults.slowDown(120);
    expect(await failureOf(store.append(stream, noStream, [note("late")]))).to.be.instanceOf(LogUnavailable);
    bench.server.faults.slowDown(0);
    await until("it is there", async () => (await store.readStream(stream)).length === 1);
    await pause(150);
    expect((await store.append(stream, 0, [note("b")])).revision).to.equal(1);
    expect(bench.anomalies).to.deep.equal([]);
  });

  it("waits for a server that is slow but answers, without sending anything twice", async () => {
    const store = await bench.client({ tuning: { stallMs: 3000 } });
    bench.server.faults.slowDown(300);
    const stream = freshStream();
    await Promise.all(Array.from({ length: 50 }, (_, at) => store.append(stream, at - 1, [note(String(at))])));
    expect(bench.anomalies).to.deep.equal([]);
    expect(bench.server.faults.appends).to.equal(50);
  });

  it("completes an append across a graceful shutdown of the server", async () => {
    const store = await bench.client();
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await bench.server.stopGracefully();
    const waiting = store.append(stream, 0, [note("b")]);
    await until("it has noticed", () => bench.anomalies.length > 0);
    await bench.server.listen();
    expect((await waiting).revision).to.equal(1);
  });

  it("refuses requests that the server would reject as bad, without harm to later appends", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const bad = [
      note("x", "no-uuid"), note("x", ""), note("x", "00000000-0000-0000-0000-000000000000"),
      note("x", randomUUID(), ""), note("x", randomUUID(), "$metadata"),
    ];
    for (const entry of bad) {
      const failure = await failureOf(store.append(stream, noStream, [note("fine"), entry]));
      expect(failure).to.be.instanceOf(UnacceptableEntry);
    }
    for (const name of ["", "$all", "$$contract-1"]) {
      expect(await failureOf(store.append(name, noStream, [note("x")]))).to.be.instanceOf(UnacceptableEntry);
    }
    const unserialisable = { ...note("x"), event: { type: "NoteTaken", data: { big: 1n } } };
    await failureOf(store.append(stream, noStream, [unserialisable]));
    expect(bench.server.faults.appends).to.equal(0);
    const upper = randomUUID().toUpperCase();
    const first = await store.append(stream, noStream, [note("a", upper)]);
    expect(await store.append(stream, noStream, [note("a", upper)])).to.deep.equal(first);
    expect(await store.readStream(stream)).to.have.length(1);
  });

  it("takes an append of a megabyte as the server counts it, and not a byte more", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const { event, metadata } = note("");
    const empty = 2 * event.type.length + JSON.stringify(event.data).length + 5 + JSON.stringify(metadata).length;
    const full = "x".repeat(1024 * 1024 - empty);
    expect(await failureOf(store.append(stream, noStream, [note(`${full}x`)]))).to.be.instanceOf(EntryTooLarge);
    const wide = note("é".repeat(1024 * 512));
    expect(await failureOf(store.append(stream, noStream, [wide]))).to.be.instanceOf(EntryTooLarge);
    expect(bench.server.faults.appends).to.equal(0);
    await store.append(stream, noStream, [note(full)]);
    expect(textOf((await store.readStream(stream))[0]!)).to.equal(full);
  });

});

describe("appends to EventStoreDB as it is", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.onAnyServer();
  });
  afterEach(() => bench.stop());

  it("does not go by the wall clock of its machine", async () => {
    for (const offsetMs of [-3_600_000, 3_600_000]) {
      const clock = new SystemClock();
      const store = await bench.client({ clock: Object.assign(clock, { now: () => Date.now() + offsetMs }) });
      expect((await store.append(freshStream(), noStream, [note("a")])).revision).to.equal(0);
    }
  });

  it("treats a tombstoned stream as absent and not writable", async () => {
    const store = await bench.client();
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await bench.stranger().tombstoneStream(stream);
    expect(await store.readStream(stream)).to.deep.equal([]);
    await store.deleteStream(stream);
    expect(await failureOf(store.append(stream, noStream, [note("b")]))).to.be.instanceOf(RevisionConflict);
  });

  it("writes JSON that others can read as such", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const entry = note("é€😀");
    await store.append(stream, noStream, [entry]);
    for await (const { event } of bench.stranger().readStream(stream)) {
      expect(event).to.deep.include({
        id: entry.id, type: entry.event.type, data: entry.event.data, metadata: entry.metadata, isJson: true,
      });
    }
  });

  it("reports the revision of a stream that another application wrote", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const event = jsonEvent({ type: "Other", data: {} });
    await bench.stranger().appendToStream(stream, event, { expectedRevision: NO_STREAM });
    expect(await failureOf(store.append(stream, noStream, [note("a")]))).to.be.instanceOf(RevisionConflict)
      .and.to.include({ expected: noStream, actual: 0 });
  });
});
