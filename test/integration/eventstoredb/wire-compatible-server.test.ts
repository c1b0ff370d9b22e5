import { randomUUID } from "node:crypto";
import {
  ANY, BACKWARDS, binaryEvent, END, EventStoreDBClient, jsonEvent, NO_STREAM, START, STREAM_EXISTS, streamNameFilter,
  type AllStreamRecordedEvent, type AppendExpectedRevision, type Position,
} from "@eventstore/db-client";
import streams from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type { BatchAppendResp } from "@eventstore/db-client/generated/streams_pb.js";
import { expect } from "chai";
import { appendRequest } from "../../../src/engines/eventstoredb/requests.ts";
import { noStream } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, until } from "../../contract/event-store/harness.ts";
import { EventStoreDbServer } from "../../support/eventstoredb-server/server.ts";

/** The stand-in behaves as EventStoreDB 23.10 was observed to, through its own client. */
describe("the wire-compatible EventStoreDB", () => {
  let server: EventStoreDbServer;
  let client: EventStoreDBClient;
  let stream: string;
  beforeEach(async () => {
    server = await EventStoreDbServer.start();
    client = EventStoreDBClient.connectionString(server.url);
    stream = `s-${randomUUID()}`;
  });
  afterEach(async () => {
    await client.dispose();
    await server.close();
  });

  const event = (id: string = randomUUID(), data: object = {}) => jsonEvent({ id, type: "T", data: { ...data } });
  const append = (events: ReturnType<typeof event>[], expectedRevision: AppendExpectedRevision = ANY) =>
    client.appendToStream(stream, events, { expectedRevision });
  const read = async (options: Parameters<EventStoreDBClient["readStream"]>[1] = {}) => {
    const revisions: bigint[] = [];
    for await (const { event: found } of client.readStream(stream, options)) revisions.push(found!.revision);
    return revisions;
  };
  const readAll = async (options: Parameters<EventStoreDBClient["readAll"]>[0] = {}) => {
    const found: AllStreamRecordedEvent[] = [];
    for await (const { event: one } of client.readAll(options)) found.push(one as AllStreamRecordedEvent);
    return found;
  };

  it("answers repeated ids with the original outcome, and mixtures with a conflict", async () => {
    const [a, b, c] = [event(), event(), event()];
    const first = await append([a, b], NO_STREAM);
    await append([c], 1n);
    const changed = event(a.id, { other: true });
    for (const expected of [NO_STREAM, ANY, STREAM_EXISTS] as const) {
      const again = await append([changed, b], expected);
      expect(again.nextExpectedRevision).to.equal(1n);
      expect(again.position).to.deep.equal(first.position);
    }
    expect((await append([a], NO_STREAM)).nextExpectedRevision).to.equal(0n);
    expect((await append([c], 1n)).nextExpectedRevision).to.equal(2n);
    expect(await failureOf(append([c, event()], ANY))).to.include({
      type: "wrong-expected-version", expectedVersion: "any", actualVersion: 2n,
    });
    expect(await read()).to.deep.equal([0n, 1n, 2n]);
    const twice = event();
    expect((await append([twice, twice], 2n)).nextExpectedRevision).to.equal(4n);
    const elsewhere = await client.appendToStream(`${stream}-2`, a, { expectedRevision: NO_STREAM });
    expect(elsewhere.nextExpectedRevision).to.equal(0n);
  });

  it("reports conflicts with the expected and the actual revision", async () => {
    const missing = await failureOf(append([event()], 3n));
    expect(missing).to.include({
      type: "wrong-expected-version", streamName: stream, expectedVersion: 3n, actualVersion: "no_stream",
    });
    await append([event()], NO_STREAM);
    expect(await failureOf(append([event()], NO_STREAM))).to.include({
      expectedVersion: "no_stream", actualVersion: 0n,
    });
    const races = await Promise.allSettled(Array.from({ length: 20 }, () => append([event()], 0n)));
    expect(races.filter(({ status }) => status === "fulfilled")).to.have.length(1);
    expect(await failureOf(client.deleteStream(stream, { expectedRevision: 7n }))).to.include({
      type: "wrong-expected-version", code: 9, expectedVersion: 7n, actualVersion: 1n,
    });
    expect(await failureOf(client.deleteStream(`${stream}-absent`))).to.include({
      expectedVersion: -2n, actualVersion: -1n,
    });
    const single = await failureOf(client.appendToStream(stream, event(), {
      expectedRevision: 9n, credentials: { username: "a", password: "b" },
    }));
    expect(single).to.include({ type: "wrong-expected-version", expectedVersion: 9n, actualVersion: 1n });
  });

  it("limits appends to a megabyte, all events together, and keeps others alive", async () => {
    const half = () => binaryEvent({ type: "T", data: Buffer.alloc(524_286) });
    await client.appendToStream(stream, [half(), half()]);
    const more = binaryEvent({ type: "T", data: Buffer.alloc(524_287) });
    expect(await failureOf(client.appendToStream(stream, [half(), more]))).to.include({
      type: "maximum-append-size-exceeded", maxAppendSize: 1_048_576,
    });
    const pieces = Array.from({ length: 50 }, () => event(randomUUID(), { pad: "x".repeat(2000) }));
    await client.appendToStream(stream, pieces, { batchAppendSize: 10_000 });
    expect(await read()).to.have.length(52);
  });

  it("answers a bad request twice, the second time under an id of another form", async () => {
    server.faults.lateReplyMs = 20;
    const call = await client["execute"](streams.StreamsClient, "batchAppend", async (stub) =>
      stub.batchAppend(...client["callArguments"]({}, { deadline: Infinity })));
    const replies: BatchAppendResp[] = [];
    call.on("data", (reply: BatchAppendResp) => replies.push(reply));
    call.on("error", () => undefined);
    const correlation = randomUUID();
    const bad = { id: "no-uuid", type: "T", data: "{}", metadata: "{}", bytes: 4 };
    call.write(appendRequest(correlation, stream, noStream, [bad]));
    await until("there are two", () => replies.length === 2);
    call.cancel();
    expect(replies.map((reply) => reply.getError()?.getMessage())).to.deep.equal(["BadRequest", "Timeout"]);
    expect(replies.map((reply) => reply.getCorrelationId()?.getString())).to.deep.equal([correlation, ""]);
    const { mostSignificantBits } = replies[1]!.getCorrelationId()!.getStructured()!.toObject();
    expect(BigInt.asUintN(64, BigInt(mostSignificantBits)).toString(16).padStart(16, "0"))
      .to.equal(correlation.replaceAll("-", "").slice(0, 16));
  });

  it("answers one or two of identical appends in flight, and the others late, as timed out", async () => {
    server.faults.identicalMs = 50;
    const same = event();
    const appends = Array.from({ length: 20 }, () => append([same], NO_STREAM).then(() => "written", () => "refused"));
    expect(new Set(await Promise.all(appends))).to.deep.equal(new Set(["written", "refused"]));
    expect((await append([same], NO_STREAM)).nextExpectedRevision).to.equal(0n);
    expect(await read()).to.deep.equal([0n]);
  });

  for (const release of ["23.10", "24.10"] as const) {
    it(`behaves as its release: ${release}`, async () => {
      await client.dispose();
      await server.close();
      server = await EventStoreDbServer.start({ release });
      client = EventStoreDBClient.connectionString(server.url);
      const follow = async (fromPosition: Position | typeof START) => {
        const checkpoints: Position[] = [];
        const subscription = client.subscribeToAll({
          fromPosition,
          filter: streamNameFilter({
            prefixes: ["s-"], checkpointReached: (_, position) => void checkpoints.push(position),
          }),
        });
        const seen: string[] = [];
        subscription.on("data", ({ event: one }) => seen.push(one!.streamId));
        await new Promise((resolve) => subscription.once("caughtUp", resolve));
        await subscription.unsubscribe();
        return { checkpoints, seen };
      };
      const minusOne = 2n ** 64n - 1n;
      const { checkpoints } = await follow(START);
      expect(checkpoints.some(({ commit }) => commit === minusOne)).to.equal(release === "24.10");
      const { position } = await append([event()]);
      const { seen } = await follow({ commit: position!.commit, prepare: 0n });
      expect(seen).to.deep.equal(release === "24.10" ? [stream] : []);
    });
  }

  it("reads streams in both directions, reports missing streams, and refuses to read no events", async () => {
    expect(await failureOf(read())).to.include({ type: "stream-not-found" });
    await append(Array.from({ length: 5 }, () => event()));
    expect(await read({ fromRevision: 2n, maxCount: 2 })).to.deep.equal([2n, 3n]);
    expect(await read({ fromRevision: 9n })).to.deep.equal([]);
    expect(await read({ direction: BACKWARDS, fromRevision: 9n, maxCount: 2 })).to.deep.equal([4n, 3n]);
    expect(await read({ direction: BACKWARDS, fromRevision: END, maxCount: 1 })).to.deep.equal([4n]);
    expect(await failureOf(read({ maxCount: 0 }))).to.include({ code: 2 });
    await client.setStreamMetadata(stream, { maxCount: 2 });
    expect(await read()).to.deep.equal([3n, 4n]);
    await client.setStreamMetadata(stream, { truncateBefore: 9 });
    expect(await read()).to.deep.equal([]);
  });

  it("lets a soft-deleted stream begin again or go on at its last revision, and a tombstone end it", async () => {
    await append([event(), event()]);
    await client.deleteStream(stream);
    expect(await failureOf(read())).to.include({ type: "stream-not-found" });
    await client.deleteStream(stream);
    server.faults.reappearingMs = Infinity;
    expect((await append([event()], NO_STREAM)).nextExpectedRevision).to.equal(2n);
    expect(await failureOf(read())).to.include({ type: "stream-not-found" });
    server.faults.reappearingMs = 0;
    expect(await read()).to.deep.equal([2n]);
    expect((await client.getStreamMetadata(stream)).metadata).to.include({ truncateBefore: 2 });
    await client.deleteStream(stream);
    expect((await append([event()], 2n)).nextExpectedRevision).to.equal(3n);
    await client.tombstoneStream(stream);
    const attempts = [
      () => read(), () => append([event()]), () => client.deleteStream(stream), () => client.tombstoneStream(stream),
    ];
    for (const attempt of attempts) expect(await failureOf(attempt())).to.include({ type: "stream-deleted" });
  });

  it("has everything in $all, by positions with gaps, forwards inclusive and backwards exclusive", async () => {
    const { position } = await append([event(), event()]);
    await client.deleteStream(stream);
    const all = await readAll();
    expect(all.map(({ streamId }) => streamId)).to.deep.equal(["$$$scavenges", stream, stream, `$$${stream}`]);
    expect(all[2]!.position).to.deep.equal(position);
    for (const { position: at } of all) expect(at.commit).to.equal(at.prepare);
    expect(all[0]!.position.commit).to.equal(548n);
    expect((await readAll({ fromPosition: position! })).map(({ streamId }) => streamId))
      .to.deep.equal([stream, `$$${stream}`]);
    const back = await readAll({ fromPosition: position!, direction: BACKWARDS, maxCount: 1 });
    expect(back[0]!.revision).to.equal(0n);
    const between = { commit: position!.commit + 1n, prepare: position!.commit + 1n };
    expect(await failureOf(readAll({ fromPosition: between }))).to.include({ code: 2 });
    const inverted = { commit: position!.commit, prepare: position!.commit + 1n };
    expect(await failureOf(readAll({ fromPosition: inverted }))).to.include({ code: 2 });
    server.scavenge();
    expect((await readAll()).map(({ streamId }) => streamId)).to.deep.equal(["$$$scavenges", `$$${stream}`]);
  });

  it("reports checkpoints in both encodings while catching up, in one when live, and resumes from each", async () => {
    for (let at = 0; at < 30; at++) {
      await client.appendToStream(at % 10 === 9 ? `rare-${at}` : `plenty-${at}`, event());
    }
    const all = await readAll();
    const rare = all.filter(({ streamId }) => streamId.startsWith("rare"));
    const follow = async (fromPosition: Position | typeof START, count: number) => {
      const checkpoints: Position[] = [];
      const seen: AllStreamRecordedEvent[] = [];
      const subscription = client.subscribeToAll({
        fromPosition,
        filter: streamNameFilter({
          prefixes: ["rare"], maxSearchWindow: 3,
          checkpointReached: (_, position) => void checkpoints.push(position),
        }),
      });
      const caughtUp: number[] = [];
      subscription.on("caughtUp", () => caughtUp.push(seen.length));
      subscription.on("data", ({ event: one }) => seen.push(one as AllStreamRecordedEvent));
      await until("it has caught up", () => caughtUp.length > 0 && seen.length >= count);
      return { checkpoints, seen, subscription };
    };
    const { checkpoints, seen, subscription } = await follow(START, 3);
    expect(seen.map(({ position }) => position)).to.deep.equal(rare.map(({ position }) => position));
    expect(checkpoints.some(({ prepare }) => prepare === 0n)).to.equal(true);
    expect(checkpoints.some(({ commit, prepare }) => commit === prepare)).to.equal(true);
    const live = checkpoints.length;
    for (let at = 0; at < 4; at++) await client.appendToStream(`plenty-live-${at}`, event());
    await until("there is a live one", () => checkpoints.length > live);
    expect(checkpoints.slice(live).every(({ commit, prepare }) => commit === prepare)).to.equal(true);
    await subscription.unsubscribe();
    for (const checkpoint of checkpoints) {
      const rest = rare.filter(({ position: { commit } }) =>
        commit > checkpoint.commit || (commit === checkpoint.commit && checkpoint.prepare === 0n));
      const resumed = await follow(checkpoint, rest.length);
      expect(resumed.seen.map(({ position }) => position)).to.deep.equal(rest.map(({ position }) => position));
      await resumed.subscription.unsubscribe();
    }
  });

  it("follows one stream behind a revision, and ends with its tombstone", async () => {
    const subscription = client.subscribeToStream(stream, { fromRevision: 0n });
    const seen: bigint[] = [];
    const failures: unknown[] = [];
    let caughtUp = 0;
    subscription.on("caughtUp", () => (caughtUp += 1));
    subscription.on("error", (error) => failures.push(error));
    subscription.on("data", ({ event: one }) => seen.push(one!.revision));
    await append([event(), event()]);
    await until("it saw the second", () => seen.length === 1 && caughtUp === 1);
    await client.tombstoneStream(stream);
    await until("it has ended", () => failures.length > 0);
    expect(seen).to.deep.equal([1n, 2n ** 63n - 1n]);
    expect(failures[0]).to.include({ type: "stream-deleted" });
  });
});
