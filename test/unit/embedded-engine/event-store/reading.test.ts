import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { EmbeddedEventStore } from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { positionOf } from "../../../../packages/embedded-engine/src/event-store/positions.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import type { EventCodec } from "../../../../src/kernel/ports/event-codec.ts";
import { LogUnavailable, noStream, UnacceptableEntry } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, until } from "../../../contract/event-store/harness.ts";
import { attachTo, openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";
import { plainCodec } from "../../../support/plain-codec.ts";

describe("reading the embedded event store", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: EmbeddedEventStore;

  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openPlainStore(folder.path);
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  it("passes over any number of deleted entries in a row", async () => {
    const [doomed, kept] = [freshStream(), freshStream()];
    for (let revision = noStream; revision < 4200; revision += 300) {
      await store.append(doomed, revision, Array.from({ length: 300 }, () => note("doomed")));
    }
    await store.append(kept, noStream, [note("kept")]);
    await store.deleteStream(doomed);
    expect(texts((await store.readLog("", 1)).entries)).to.deep.equal(["kept"]);
  });

  it("keeps its position beyond the log's end, as after the log was replaced by an older one", async () => {
    await store.append(freshStream(), noStream, [note("x")]);
    const beyond = positionOf(100);
    expect(await store.readLog(beyond, 10)).to.deep.equal({ entries: [], upTo: beyond });
  });

  it("finds every accepted entry: one without a type, which would pass for deleted, is refused", async () => {
    expect(await failureOf(store.append(freshStream(), noStream, [note("x", "id", "")])))
      .to.be.instanceOf(UnacceptableEntry);
  });

  it("decodes long entries a portion a turn of the event loop, and none to tell their times", async () => {
    let [decoded, most] = [0, 0];
    const decode: EventCodec["decode"] = (encoded) => {
      decoded += 1;
      for (const end = performance.now() + 5; performance.now() < end;);
      return plainCodec.decode(encoded);
    };
    const client = await EmbeddedEventStore.attach(store.connect(), {
      codec: { ...plainCodec, decode }, clock: new SystemClock(),
    });
    const stream = freshStream();
    const entries = 20;
    for (let revision = noStream; revision < entries - 1; revision += 1) {
      await store.append(stream, revision, [note("x".repeat(250_000))]);
    }
    let isOver = false;
    const look = () => {
      most = Math.max(most, decoded);
      decoded = 0;
      if (!isOver) setImmediate(look);
    };
    look();
    expect(await client.readStream(stream)).to.have.length(entries);
    for (let after = "", upTo; ; after = upTo) {
      ({ upTo } = await client.readLog(after, 1_000));
      if (upTo === after) break;
    }
    expect(most).to.be.within(1, 5);
    look();
    most = 0;
    expect((await client.readTimes("", 1_000)).times).to.have.length(entries);
    look();
    isOver = true;
    expect(most).to.equal(0);
    await client.close();
  });

  it("reports a handler that failed", async () => {
    const anomalies: unknown[] = [];
    const clock = new SystemClock();
    const options = { codec: plainCodec, clock, onAnomaly: (error: unknown) => void anomalies.push(error) };
    const client = await EmbeddedEventStore.attach(store.connect(), options);
    const failure = new Error("no");
    let calls = 0;
    const subscription = client.subscribe({ after: "" }, () => {
      if ((calls += 1) === 1) throw failure;
    });
    await store.append(freshStream(), noStream, [note("x")]);
    await until("it is called again", () => calls === 2);
    await subscription.stop();
    await client.close();
    expect(anomalies).to.deep.equal([failure]);
  });

  it("finds an entry at a known place for every client, though only one has threads for such reads", async () => {
    const stream = freshStream();
    const { position: beginsAt } = await store.append(stream, noStream, [note("x")]);
    const client = await attachTo(store);
    expect(texts(await client.readStream(stream, { limit: 1, beginsAt }))).to.deep.equal(["x"]);
    await client.close();
  });

  it("fails in every thread where the log is damaged", async () => {
    const stream = freshStream();
    const { position: beginsAt } = await store.append(stream, noStream, [note("x".repeat(100_000))]);
    await store.close();
    const bytes = readFileSync(logPath(folder.path));
    // This spoils overflow pages: they hold the part of an entry that is too long for its row.
    writeFileSync(logPath(folder.path), bytes.fill(0, 50_000));
    store = await openPlainStore(folder.path);
    for (const read of [
      () => store.readStream(stream), () => store.readStream(stream, { limit: 1, beginsAt }),
      () => store.readLog("", 1),
    ]) expect(await failureOf(read())).to.be.instanceOf(LogUnavailable);
    expect((await store.append(freshStream(), noStream, [note("y")])).revision).to.equal(0);
  });
});
