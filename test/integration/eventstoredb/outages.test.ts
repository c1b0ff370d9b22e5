import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { EventStoreDb } from "../../../src/engines/eventstoredb/event-store-db.ts";
import type { Tuning } from "../../../src/engines/eventstoredb/tuning.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { LogUnavailable, noStream, RevisionConflict } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, until } from "../../contract/event-store/harness.ts";
import { startEventStoreDb } from "../../support/engines/eventstoredb.ts";
import type { EventStoreDbUnderTest } from "../../support/engines/eventstoredb/server.ts";
import { plainCodec } from "../../support/plain-codec.ts";
import { quick, Recorder, untilAnswered } from "./bench.ts";

describe("outages of EventStoreDB, a process that is killed and stopped", function () {
  this.timeout(60_000);
  let server: EventStoreDbUnderTest;
  let clients: EventStoreDb[];
  beforeEach(async () => {
    server = await startEventStoreDb();
    clients = [];
  });
  afterEach(async () => {
    if (server.breakable) await server.thaw();
    await Promise.all(clients.map((client) => client.close()));
    await server.stop();
  });

  async function open(tuning: Partial<Tuning> = {}, url = server.url): Promise<EventStoreDb> {
    const client = new EventStoreDb({
      url, codec: plainCodec, clock: new SystemClock(), tuning: { ...quick, ...tuning },
    });
    clients.push(client);
    return client;
  }

  it("loses and duplicates no entry under load and repeated kills, for writers and for subscribers", async function () {
    if (!server.breakable) this.skip();
    const [store, reader] = [await open({ appendMs: 1000 }), await open()];
    const streams = Array.from({ length: 20 }, () => freshStream());
    const recorders = [{}, { categories: ["event"] }].map((filter) =>
      new Recorder(reader, { after: "", ...filter }));
    const done = new AbortController();
    const acknowledged = new Map<string, number>();
    const writers = streams.map(async (stream) => {
      for (let at = 0; !done.signal.aborted; at++) {
        // The same message until it is answered: a caller that got LogUnavailable may do that.
        const entries = [note(String(at))];
        await until("the append is answered", () => store.append(stream, at - 1, entries).then(
          () => true,
          (error: unknown) => {
            expect(error).to.be.instanceOf(LogUnavailable);
            return false;
          },
        ));
        acknowledged.set(stream, at);
      }
    });
    try {
      for (let round = 0; round < 4; round++) {
        const before = Math.max(0, ...acknowledged.values());
        await until("there is load", () => Math.max(0, ...acknowledged.values()) > before + 5);
        await server.kill();
        await pause(round * 100);
        await server.restart();
      }
    } finally {
      done.abort();
      await Promise.all(writers);
    }
    const head = await store.head();
    await Promise.all(recorders.map((recorder) => recorder.reaches(head)));
    await Promise.all(recorders.map((recorder) => recorder.stop()));
    for (const stream of streams) {
      const written = Array.from({ length: acknowledged.get(stream)! + 1 }, (_, at) => String(at));
      expect(texts(await store.readStream(stream))).to.deep.equal(written);
      for (const { entries } of recorders) {
        expect(texts(entries.filter((entry) => entry.stream === stream))).to.deep.equal(written);
      }
    }
  });

  it("recovers from a server that is frozen for longer than every timeout", async function () {
    if (!server.breakable) this.skip();
    const store = await open({ appendMs: 600, readMs: 300 });
    const stream = freshStream();
    const recorder = new Recorder(store, { after: "", categories: ["event"] });
    const [first, entries, last] = [[note("a")], [note("b")], [note("c")]] as const;
    await untilAnswered(() => store.append(stream, noStream, first));
    await until("it is live", () => recorder.entries.length === 1);
    await server.freeze();
    const failures = await Promise.all([
      store.append(stream, 0, entries), store.readStream(stream), store.ping(), store.head(),
    ].map(failureOf));
    for (const failure of failures) expect(failure).to.be.instanceOf(LogUnavailable);
    await pause(1200);
    await server.thaw();
    // The first attempt may have been committed or not: the same message again settles it.
    expect((await untilAnswered(() => store.append(stream, 0, entries))).revision).to.equal(1);
    const other = () => store.append(stream, 0, [note("other")]).then(() => "taken", (error: unknown) => {
      if (error instanceof RevisionConflict) return "refused";
      throw error;
    });
    expect(await untilAnswered(other)).to.equal("refused");
    await untilAnswered(() => store.append(stream, 1, last));
    await until("all was seen", () => recorder.entries.length >= 3);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a", "b", "c"]);
  });

  it("keeps an append waiting through a short freeze, and commits it once", async function () {
    if (!server.breakable) this.skip();
    const store = await open({ appendMs: 8000 });
    const stream = freshStream();
    await store.append(stream, noStream, [note("0")]);
    await server.freeze();
    const waiting = Promise.all(Array.from({ length: 100 }, (_, at) => store.append(stream, at, [note(`${at + 1}`)])));
    await pause(700);
    await server.thaw();
    const revisions = (await waiting).map(({ revision }) => revision);
    expect(revisions).to.deep.equal(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(texts(await store.readStream(stream))).to.deep.equal(Array.from({ length: 101 }, (_, at) => String(at)));
  });

  it("opens while the server is unavailable, and works once it is available", async function () {
    if (!server.breakable) this.skip();
    await server.kill();
    const store = await open();
    const recorder = new Recorder(store, { after: "" });
    expect(await failureOf(store.ping())).to.be.instanceOf(LogUnavailable);
    const appending = store.append(freshStream(), noStream, [note("a")]);
    await server.restart();
    await recorder.reaches((await appending).position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a"]);
  });

  it("finds the leader of a cluster by asking its members, and again after a restart", async function () {
    if (!server.breakable) this.skip();
    const [, address] = /(127.0.0.1:\d+)/.exec(server.url)!;
    const store = new EventStoreDb({
      url: `esdb://${address},${address}?tls=false&discoveryInterval=20`, codec: plainCodec, clock: new SystemClock(),
      tuning: quick,
    });
    clients.push(store);
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await server.kill();
    const appending = store.append(stream, 0, [note("b")]);
    await server.restart();
    await appending;
    expect(texts(await store.readStream(stream))).to.deep.equal(["a", "b"]);
  });

  it("asks over another connection when its own fell silent", async () => {
    const sides: Socket[] = [];
    const way = createServer((client) => {
      const onward = connect(Number(new URL(server.url).port), "127.0.0.1");
      for (const side of [client, onward]) sides.push(side.on("error", () => undefined));
      client.pipe(onward).pipe(client);
    });
    await once(way.listen(0, "127.0.0.1"), "listening");
    const url = new URL(server.url);
    url.port = String((way.address() as AddressInfo).port);
    const store = await open({ pingMs: 1_000 }, url.href);
    try {
      await store.ping();
      for (const side of sides) side.unpipe().resume();
      expect(await failureOf(store.ping())).to.be.instanceOf(LogUnavailable);
      await store.ping();
    } finally {
      for (const side of sides) side.destroy();
      way.close();
    }
  });

  it("pings within about a second", async function () {
    if (!server.breakable) this.skip();
    const store = await open({ pingMs: 1000 });
    await untilAnswered(() => store.ping());
    await server.freeze();
    const startedAt = performance.now();
    expect(await failureOf(store.ping())).to.be.instanceOf(LogUnavailable);
    expect(performance.now() - startedAt).to.be.within(800, 4_000);
  });

  it("refuses an invalid address when it is opened", async () => {
    expect(() => new EventStoreDb({ url: "http://x", codec: plainCodec, clock: new SystemClock() })).to.throw();
  });
});
