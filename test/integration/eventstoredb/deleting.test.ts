import { jsonEvent } from "@eventstore/db-client";
import { expect } from "chai";
import type { EventStoreDb } from "../../../src/engines/eventstoredb/event-store-db.ts";
import { LogUnavailable, noStream, RevisionConflict } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, until } from "../../contract/event-store/harness.ts";
import { Bench, OwnBench, Recorder } from "./bench.ts";

describe("deleting streams of EventStoreDB", () => {
  let bench: OwnBench;
  let store: EventStoreDb;
  beforeEach(async () => {
    bench = await OwnBench.start();
    store = await bench.client();
  });
  afterEach(() => bench.stop());

  it("hides its fences from all readers", async () => {
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await store.deleteStream(stream);
    const { position } = await store.append(stream, noStream, [note("b")]);
    const recorder = new Recorder(store, { after: "" });
    await recorder.reaches(position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["a", "b"]);
    expect(texts((await store.readLog("", 100)).entries)).to.deep.equal(["a", "b"]);
  });

  it("survives the death of the server between its two steps", async () => {
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await bench.server.kill();
    const deleting = store.deleteStream(stream, 0);
    await bench.server.listen();
    await deleting;
    expect(await store.readStream(stream)).to.deep.equal([]);
  });

  it("answers as deleted when the reply to its first step is lost", async () => {
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    bench.server.faults.dropReplies(1);
    await store.deleteStream(stream, 0);
    expect(await store.readStream(stream)).to.deep.equal([]);
    expect(bench.anomalies).to.not.deep.equal([]);
  });

  it("gives up when its time is over", async () => {
    const hasty = await bench.client({ tuning: { appendMs: 300 } });
    const stream = freshStream();
    await store.append(stream, noStream, [note("a")]);
    await bench.server.kill();
    expect(await failureOf(hasty.deleteStream(stream))).to.be.instanceOf(LogUnavailable);
    await bench.server.listen();
    await until("it can be deleted", () => hasty.deleteStream(stream).then(() => true, () => false));
  });

  it("leaves entries in the log until a scavenge, which keeps all positions valid", async () => {
    const [doomed, kept] = [freshStream(), freshStream()];
    await store.append(kept, noStream, [note("a")]);
    const { position } = await store.append(doomed, noStream, [note("x")]);
    await store.append(kept, 0, [note("b")]);
    const newest = await store.append(doomed, 0, [note("y")]);
    await store.deleteStream(doomed);
    expect(texts((await store.readLog("", 100)).entries)).to.deep.equal(["a", "x", "b", "y"]);
    bench.server.scavenge();
    expect(await store.head()).to.equal(newest.position);
    expect((await store.readLog(newest.position, 1)).upTo >= newest.position).to.equal(true);
    expect(texts((await store.readLog("", 100)).entries)).to.deep.equal(["a", "b"]);
    expect(texts((await store.readLog(position, 100)).entries)).to.deep.equal(["b"]);
    const recorder = new Recorder(store, { after: position });
    await recorder.reaches(newest.position);
    await recorder.stop();
    expect(texts(recorder.entries)).to.deep.equal(["b"]);
    expect((await store.append(doomed, noStream, [note("z")])).revision).to.be.greaterThan(1);
  });
});

describe("deleting streams of EventStoreDB as it is", () => {
  let bench: Bench;
  let store: EventStoreDb;
  beforeEach(async () => {
    bench = await Bench.onAnyServer();
    store = await bench.client();
  });
  afterEach(() => bench.stop());

  /** A stream whose deletion was broken off between its two steps. */
  async function halfDeleted(): Promise<string> {
    const stream = freshStream();
    await store.append(stream, noStream, [note("a"), note("b")]);
    await bench.stranger().appendToStream(stream, jsonEvent({ type: "$relay-fence", data: {} }));
    return stream;
  }

  it("counts as done once no client can write at the old revision, even when it was broken off", async () => {
    const read = await halfDeleted();
    expect(await store.readStream(read)).to.deep.equal([]);
    for (const part of [{}, { limit: 1 }, { from: 1 }, { from: 1, limit: 1 }, { limit: 9 }]) {
      expect(await store.readStream(read, part), JSON.stringify(part)).to.deep.equal([]);
      expect(await store.readStream(read, { ...part, backwards: true })).to.deep.equal([]);
    }

    const late = await halfDeleted();
    expect(await failureOf(store.append(late, 1, [note("late")]))).to.be.instanceOf(RevisionConflict)
      .and.to.include({ actual: noStream });

    const again = await halfDeleted();
    await store.append(again, noStream, [note("c")]);
    expect(texts(await store.readStream(again))).to.deep.equal(["c"]);

    const repeated = await halfDeleted();
    await store.deleteStream(repeated, 1);
    await store.append(repeated, noStream, [note("d")]);
    expect(texts(await store.readStream(repeated))).to.deep.equal(["d"]);
  });

  it("does not delete a stream that has begun again when another client finishes the deletion", async () => {
    const rivals = [store, await bench.client(), await bench.client()];
    for (let round = 0; round < 20; round++) {
      const stream = await halfDeleted();
      const [, appended] = await Promise.allSettled([
        rivals[1]!.deleteStream(stream, 1), store.append(stream, noStream, [note("new")]),
        rivals[2]!.deleteStream(stream, 1),
      ]);
      expect(appended.status).to.equal("fulfilled");
      expect(texts(await store.readStream(stream))).to.deep.equal(["new"]);
    }
  });
});
