import { setTimeout as pause } from "node:timers/promises";
import { jsonEvent } from "@eventstore/db-client";
import { expect } from "chai";
import { JsonEventCodec } from "../../../src/engines/event-codec/event-codec.ts";
import { LogUnavailable, noStream, type LogEntry, type Position } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, until } from "../../contract/event-store/harness.ts";
import { Bench, OwnBench, Recorder, untilAnswered } from "./bench.ts";

describe("following the log of EventStoreDB", () => {
  let bench: OwnBench;
  beforeEach(async () => {
    bench = await OwnBench.start();
  });
  afterEach(() => bench.stop());

  it("resumes from every reported position with exactly the rest, killed or not, under every filter", async () => {
    const store = await bench.client({ tuning: { searchWindow: 3 } });
    const streams = (["sender", "event", "person"] as const).map((category) => freshStream(category));
    let written = 0;
    const write = async (count: number) => {
      const from = written;
      written += count;
      await Promise.all(streams.map(async (stream, of) => {
        for (let at = from; at < from + count; at++) {
          const sizes = of === 0 ? [at] : [at, at];
          const revision = (of === 0 ? at : 2 * at) - 1;
          await store.append(stream, revision, sizes.map((size) => note(String(size), undefined, `Type${at % 4}`)));
        }
      }));
    };
    await write(30);
    const filters = [
      {}, { categories: ["sender"] }, { types: ["Type1"] }, { categories: ["sender"], types: ["Type1"] },
      { categories: ["absent"] },
    ];
    for (const filter of filters) {
      const recorder = new Recorder(store, { after: "", ...filter });
      await until("it is under way", () => recorder.upTo > "");
      bench.server.breakConnections();
      await write(4);
      bench.server.breakConnections();
      const head = await untilAnswered(() => store.head());
      await recorder.reaches(head);
      await recorder.stop();
      const all = recorder.entries;
      expect(all.map(({ position }) => position)).to.deep.equal(await expected(store, filter, head));
      const upTos = [...new Set(recorder.batches.map(({ upTo }) => upTo))];
      for (const upTo of upTos.filter((_, at) => at % Math.ceil(upTos.length / 12) === 0)) {
        const resumed = new Recorder(store, { after: upTo, ...filter });
        await resumed.reaches(head);
        await resumed.stop();
        expect(resumed.entries).to.deep.equal(all.filter(({ position }) => position > upTo));
      }
    }
  });

  it("ignores a checkpoint that is no valid position", async () => {
    await bench.stop();
    bench = await OwnBench.start("24.10");
    const store = await bench.client();
    const recorders = await Promise.all([{}, { categories: ["event"] }, { types: ["NoteTaken"] }].map(async (filter) =>
      new Recorder(await bench.client(), { after: "", ...filter })));
    await until("they are live", () => bench.server.openSubscriptions === recorders.length);
    const { position } = await store.append(freshStream(), noStream, [note("a")]);
    for (const recorder of recorders) {
      await recorder.reaches(position);
      await recorder.stop();
      expect(texts(recorder.entries)).to.deep.equal(["a"]);
      expect(recorder.upTo < "1").to.equal(true);
    }
    const impossible = `${2n ** 64n - 1n}/${2n ** 64n - 1n}`;
    expect(() => store.subscribe({ after: impossible }, () => undefined)).to.throw("no position");
  });

  it("does not receive the events of other applications", async () => {
    const [store, stranger] = [await bench.client(), bench.stranger()];
    const recorder = new Recorder(store, { after: "" });
    await until("it is live", () => bench.server.openSubscriptions === 1);
    for (let at = 0; at < 10; at++) {
      const events = Array.from({ length: 100 }, () => jsonEvent({ type: "OrderPlaced", data: {} }));
      await stranger.appendToStream(`orders-${at}`, events);
    }
    const { position } = await store.append(freshStream(), noStream, [note("a")]);
    await recorder.reaches(position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a"]);
    expect(bench.server.faults.followed).to.equal(1);
  });

  it("subscribes again without a warning after the server cut it off as a slow consumer", async () => {
    bench.server.faults.slowConsumerMs = 50;
    const store = await bench.client({ tuning: { bufferEntries: 5, stallMs: 5000 } });
    const stream = freshStream();
    const held = Promise.withResolvers<undefined>();
    const recorder = new Recorder(store, { after: "" }, () => held.promise);
    await until("it is live", () => bench.server.openSubscriptions === 1);
    for (let at = 0; at < 100; at++) await store.append(stream, at - 1, [note("x".repeat(100_000))]);
    await until("it is cut off", () => bench.server.openSubscriptions === 0);
    held.resolve(undefined);
    const { position } = await store.append(stream, 99, [note("last")]);
    await recorder.reaches(position);
    await recorder.stop();
    expect(recorder.entries).to.have.length(101);
    expect(bench.anomalies).to.deep.equal([]);
  });

  it("pauses, and reports it, when each subscription is cut off before its first event", async () => {
    const store = await bench.client();
    bench.server.faults.refusedReads = { code: 10, details: "Consumer too slow" };
    const recorder = new Recorder(store, { after: "" });
    await until("it is told", () => bench.anomalies.length > 1);
    bench.server.faults.refusedReads = undefined;
    const { position } = await store.append(freshStream(), noStream, [note("a")]);
    await recorder.reaches(position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a"]);
  });

  it("names the missing right if access is denied", async () => {
    const store = await bench.client();
    await store.ping();
    for (const [code, text] of [[7, "may not read $all"], [16, "user or the password"]] as const) {
      bench.server.faults.refusedReads = { code, details: "Access Denied" };
      expect((await failureOf(store.ping())).message).to.contain("EventStoreDB denies access").and.to.contain(text);
    }
  });

  it("keeps its head while only the server writes, and finds it behind thousands of system events",
    async () => {
      const store = await bench.client();
      expect(await store.head()).to.equal("");
      const { position } = await store.append(freshStream(), noStream, [note("a")]);
      const stranger = bench.stranger();
      const links = Array.from({ length: 1500 }, () => jsonEvent({ type: "$>", data: "0@x" }));
      await stranger.appendToStream("$ce-x", links);
      for (const client of [store, await bench.client()]) {
        expect(await client.head()).to.equal(position);
        expect(await client.head()).to.equal(position);
      }
    });

  it("hides events of the server and of other applications, and shows damaged entries as unreadable", async () => {
    const store = await bench.client({ codec: new JsonEventCodec() });
    const stranger = bench.stranger();
    const metadata = note("").metadata;
    await stranger.appendToStream("orders-1", [
      jsonEvent({ type: "OrderPlaced", data: { a: 1 } }),
      jsonEvent({ type: "EventAccepted", data: {}, metadata: { correlationId: "x", causationId: "y" } }),
    ]);
    await stranger.appendToStream("$own", jsonEvent({ type: "Odd", data: {}, metadata }));
    await stranger.setStreamMetadata("orders-1", { maxCount: 10 });
    await stranger.appendToStream("event-1", jsonEvent({ type: "EventAccepted", data: { damaged: true } }));
    await stranger.appendToStream("event-1", jsonEvent({ type: "FromLater", data: {}, metadata }));
    await stranger.appendToStream("unknown-1", jsonEvent({ type: "FromLater", data: {}, metadata }));
    await stranger.appendToStream("eventual-1", jsonEvent({ type: "FromLater", data: {}, metadata }));
    const recorder = new Recorder(store, { after: "" });
    await recorder.reaches(await store.head());
    await recorder.stop();
    const { entries } = await store.readLog("", 100);
    for (const seen of [recorder.entries, entries]) {
      expect(seen.map(({ stream, unreadable }) => ({ stream, told: unreadable !== undefined }))).to.deep.equal([
        { stream: "event-1", told: true }, { stream: "event-1", told: true },
      ]);
    }
  });

  it("holds the server back while its handler is busy", async () => {
    const store = await bench.client({ tuning: { bufferEntries: 20, stallMs: 5000 } });
    const stream = freshStream();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const recorder = new Recorder(store, { after: "" }, () => held);
    for (let at = 0; at < 300; at++) await store.append(stream, at - 1, [note("x".repeat(20_000))]);
    release();
    const { position } = await store.append(stream, 299, [note("last")]);
    await recorder.reaches(position);
    await recorder.stop();
    expect(recorder.entries).to.have.length(301);
    expect(Math.max(...recorder.batches.map(({ entries }) => entries.length))).to.be.within(2, 40);
    expect(bench.anomalies).to.deep.equal([]);
  });

  it("recovers when a connection falls silent, and reports it", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const { position } = await store.append(stream, noStream, [note("a")]);
    const recorder = new Recorder(store, { after: "" });
    await recorder.reaches(position);
    bench.server.faults.freeze();
    await until("it has noticed", () => bench.anomalies.length > 0);
    bench.server.faults.thaw();
    const next = await untilAnswered(() => store.append(stream, 0, [note("b")]));
    await recorder.reaches(next.position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a", "b"]);
  });

  it("switches to another call when a live call delivers nothing", async () => {
    const store = await bench.client();
    const stream = freshStream();
    const { position } = await store.append(stream, noStream, [note("a")]);
    const recorder = new Recorder(store, { after: "" });
    await recorder.reaches(position);
    bench.server.faults.muteSubscriptions();
    const next = await store.append(stream, 0, [note("b")]);
    await recorder.reaches(next.position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a", "b"]);
    expect(bench.anomalies).to.not.deep.equal([]);
  });

  it("resumes after a graceful shutdown of the server, and after a kill", async () => {
    const store = await bench.client();
    const stream = freshStream();
    await store.append(stream, noStream, [note("0")]);
    const recorder = new Recorder(store, { after: "", categories: ["event"] });
    for (const [at, end] of [() => bench.server.stopGracefully(), () => bench.server.kill()].entries()) {
      await until("it is live", () => recorder.entries.length === at + 1);
      await end();
      await bench.server.listen();
      await untilAnswered(() => store.append(stream, at, [note(String(at + 1))]));
    }
    await until("all was seen", () => recorder.entries.length >= 3);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["0", "1", "2"]);
  });

  it("leaves no call open on the server: neither stopped subscriptions nor reads that end early", async () => {
    const store = await bench.client({ tuning: { pageBytes: 10_000 } });
    const stream = freshStream();
    for (let at = 0; at < 20; at++) await store.append(stream, at - 1, [note("x".repeat(5000))]);
    const recorders = Array.from({ length: 5 }, () => new Recorder(store, { after: "" }));
    await Promise.all(recorders.map((recorder) => until("it is under way", () => recorder.upTo > "")));
    expect(bench.server.openReads).to.be.at.least(5);
    await Promise.all(recorders.map((recorder) => recorder.stop()));
    const { entries, upTo } = await store.readLog("", 100);
    expect(entries.length).to.be.within(1, 5);
    expect(upTo).to.equal(entries.at(-1)!.position);
    await store.readStream(stream, { limit: 1 });
    await until("nothing is open", () => bench.server.openReads === 0);
  });

  it("never takes part of a stream or of a page for the whole when the connection breaks", async () => {
    const store = await bench.client();
    const stream = freshStream();
    for (let at = 0; at < 20; at++) {
      await store.append(stream, 20 * at - 1, Array.from({ length: 20 }, () => note("x".repeat(2000))));
    }
    const outcomes = { whole: 0, failed: 0 };
    for (let round = 0; outcomes.whole < 10 || outcomes.failed < 10; round++) {
      const reads = [store.readStream(stream), store.readLog("", 400).then(({ entries }) => entries)];
      const breaking = pause(round % 20).then(() => bench.server.breakConnections());
      for (const read of await Promise.allSettled(reads)) {
        if (read.status === "fulfilled") {
          expect(read.value).to.have.length(400);
          outcomes.whole += 1;
        } else {
          expect(read.reason).to.be.instanceOf(LogUnavailable);
          outcomes.failed += 1;
        }
      }
      await breaking;
    }
  });

  it("pages through entries that are larger than a page", async () => {
    const store = await bench.client({ tuning: { pageBytes: 10 } });
    const stream = freshStream();
    for (let at = 0; at < 5; at++) await store.append(stream, at - 1, [note(String(at))]);
    const seen: LogEntry[] = [];
    let upTo: Position = "";
    while (upTo < (await store.head())) {
      const page = await store.readLog(upTo, 100);
      expect(page.upTo > upTo).to.equal(true);
      seen.push(...page.entries);
      upTo = page.upTo;
    }
    expect(texts(seen)).to.deep.equal(["0", "1", "2", "3", "4"]);
  });

  it("fails reads, pings and heads as unavailable within their timeout when the server does not answer", async () => {
    const store = await bench.client({ tuning: { readMs: 300 } });
    const attempts = [
      () => store.readStream("contract-1"), () => store.readLog("", 1), () => store.head(), () => store.ping(),
    ];
    await untilAnswered(() => store.ping());
    for (const [begin, end] of [
      [() => bench.server.faults.freeze(), () => bench.server.faults.thaw()],
      [() => bench.server.kill(), () => bench.server.listen()],
    ] as const) {
      await begin();
      const startedAt = performance.now();
      const failures = await Promise.all(attempts.map((attempt) => failureOf(attempt())));
      for (const failure of failures) expect(failure).to.be.instanceOf(LogUnavailable);
      expect(performance.now() - startedAt).to.be.below(5_000);
      await end();
      for (const attempt of attempts) await untilAnswered<unknown>(attempt);
    }
  });

  it("fails in time while it looks for the leader of a silent cluster, and goes on once it is found", async () => {
    const { host } = new URL(bench.server.url);
    const url = `esdb://${host},${host}?tls=false&discoveryInterval=20`;
    const store = await bench.client({ url, tuning: { appendMs: 300, readMs: 300 } });
    const stream = freshStream();
    const attempts = [
      () => store.readStream(stream), () => store.readLog("", 1), () => store.head(), () => store.ping(),
      () => store.append(stream, noStream, [note("")]), () => store.deleteStream(stream),
    ];
    const recorder = new Recorder(store, { after: "" });
    // In the first round the leader was never found, in the second it is lost.
    for (let round = 0; round < 2; round++) {
      bench.server.faults.freeze();
      const startedAt = performance.now();
      await Promise.all(attempts.map(async (attempt) => {
        for (let time = 0; time < 3; time++) expect(await failureOf(attempt())).to.be.instanceOf(LogUnavailable);
      }));
      expect(performance.now() - startedAt).to.be.below(4_000);
      bench.server.faults.thaw();
      await untilAnswered(() => store.ping());
      const { position } = await untilAnswered(() => store.append(freshStream(), noStream, [note("a")]));
      await recorder.reaches(position);
    }
    await recorder.stop();
  });

  it("closes though the server does not answer, and refuses later calls", async () => {
    const store = await bench.client({ tuning: { closeMs: 300 } });
    store.subscribe({ after: "" }, () => undefined);
    await store.head();
    bench.server.faults.freeze();
    const waiting = failureOf(store.append(freshStream(), noStream, [note("a")]));
    await pause(20);
    const patience = pause(5000, undefined, { ref: false });
    await Promise.race([store.close(), patience.then(() => expect.fail("still not closed"))]);
    expect(await waiting).to.be.instanceOf(LogUnavailable);
    expect(await failureOf(store.head())).to.be.instanceOf(LogUnavailable);
  });

  /** The positions of the entries that match a filter, found by reading. */
  async function expected(
    store: Awaited<ReturnType<Bench["client"]>>,
    { categories, types }: { readonly categories?: readonly string[]; readonly types?: readonly string[] },
    head: Position,
  ): Promise<Position[]> {
    const all: LogEntry[] = [];
    for (let upTo: Position = ""; upTo < head;) {
      const page = await store.readLog(upTo, 1000);
      all.push(...page.entries);
      upTo = page.upTo;
    }
    return all.filter(({ stream, type }) =>
      (categories?.some((category) => stream.startsWith(`${category}-`)) ?? true) && (types?.includes(type) ?? true))
      .map(({ position }) => position);
  }
});

describe("following the log of EventStoreDB as it is", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.onAnyServer();
  });
  afterEach(() => bench.stop());

  it("takes both encodings of checkpoints for positions, to resume and to read from", async () => {
    const store = await bench.client();
    const stream = freshStream("tenant");
    const unwanted: Position[] = [];
    let last = "";
    for (let at = 0; at < 20; at++) {
      unwanted.push((await store.append(freshStream("invite"), noStream, [note(`unwanted ${at}`)])).position);
      const texts = Array.from({ length: 50 }, (_, of) => note(`${at}/${of}`));
      ({ position: last } = await store.append(stream, 50 * at - 1, texts));
    }
    // The form in which the server reports the start of a page without matches.
    for (const at of [0, 10, 19]) {
      const upTo = `${unwanted[at]!.slice(0, 20)}/${"0".repeat(20)}`;
      const resumed = new Recorder(store, { after: upTo, categories: ["tenant"] });
      await resumed.reaches(last);
      await resumed.stop();
      expect(texts(resumed.entries.slice(0, 1))).to.deep.equal([`${at}/0`]);
      expect(texts((await store.readLog(upTo, 1)).entries)).to.deep.equal([`unwanted ${at}`]);
    }
  });

  it("reaches the head behind others' entries, deletions and system events, under every filter", async () => {
    const [store, rival] = [await bench.client(), await bench.client()];
    const stranger = bench.stranger();
    const from = await store.head();
    const recorders = [{}, { categories: ["absent"] }, { types: ["Absent"] }].map((filter) =>
      new Recorder(store, { after: from, ...filter }));
    const stream = freshStream();
    for (let at = 0; at < 5; at++) {
      await rival.append(stream, at - 1, [note(String(at))]);
      await stranger.setStreamMetadata(`other-${at}`, { maxCount: 3 });
      await Promise.all(recorders.map(async (recorder) => recorder.reaches(await store.head())));
    }
    await rival.deleteStream(stream);
    const head = await rival.head();
    for (const client of [store, rival]) expect((await client.readLog(from, 100)).upTo >= head).to.equal(true);
    await Promise.all(recorders.map((recorder) => recorder.reaches(head)));
    await Promise.all(recorders.map((recorder) => recorder.stop()));
  });

  it("refuses a position of another engine", async () => {
    const store = await bench.client();
    expect(() => store.subscribe({ after: "0000000000000012" }, () => undefined)).to.throw("no position");
    expect(bench.anomalies).to.deep.equal([]);
  });
});
