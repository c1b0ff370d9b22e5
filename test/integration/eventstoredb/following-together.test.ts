import { expect } from "chai";
import { noStream, type EventStore } from "../../../src/kernel/ports/event-store.ts";
import { freshStream, note, texts, until } from "../../contract/event-store/harness.ts";
import { plainCodec } from "../../support/plain-codec.ts";
import { OwnBench, Recorder } from "./bench.ts";

describe("several subscriptions of one client of EventStoreDB", () => {
  const filters = [{}, { categories: ["sender"] }, { types: ["Odd"] }];
  let bench: OwnBench;
  beforeEach(async () => {
    bench = await OwnBench.start();
  });
  afterEach(() => bench.stop());

  async function write(store: EventStore, from: number, to: number): Promise<string> {
    const streams = (["sender", "event", "event"] as const).map((category) => freshStream(category));
    let last = "";
    for (let at = from; at < to; at += 1) {
      const entry = note(String(at), undefined, at % 2 === 1 ? "Odd" : "Even");
      last = (await store.append(streams[at % 3]!, Math.floor((at - from) / 3) - 1, [entry])).position;
    }
    return last;
  }

  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  const wanted = [() => true, (n: number) => n % 3 === 0, (n: number) => n % 2 === 1];

  it("follow the log's end by one call, over broken connections, and get all they want in order", async () => {
    const [store, rival] = [await bench.client(), await bench.client()];
    const recorders = filters.map((filter) => new Recorder(store, { after: "", ...filter }));
    await write(store, 0, 10);
    await until("one call is left", () => bench.server.openSubscriptions === 1);
    await write(rival, 10, 20);
    bench.server.breakConnections();
    const last = await write(store, 20, 30);
    for (const [at, recorder] of recorders.entries()) {
      await recorder.reaches(last);
      expect(texts(recorder.entries).map(Number)).to.deep.equal(numbers(0, 30).filter(wanted[at]!));
    }
    expect(bench.server.openSubscriptions).to.equal(1);
    for (const recorder of recorders) await recorder.stop();
    await until("no call is left", () => bench.server.openSubscriptions === 0);
  });

  it("do not wait for one that is busy, which follows by a call of its own what it missed", async () => {
    const store = await bench.client({ tuning: { bufferEntries: 5 } });
    const held = Promise.withResolvers<undefined>();
    let isHeld = false;
    const quick = new Recorder(store, { after: "" });
    const busy = new Recorder(store, { after: "" }, async () => (isHeld ? held.promise : undefined));
    await write(store, 0, 3);
    await until("one call is left", () => bench.server.openSubscriptions === 1);
    isHeld = true;
    await quick.reaches(await write(store, 3, 30));
    isHeld = false;
    held.resolve(undefined);
    await busy.reaches(await write(store, 30, 33));
    await until("one call is left again", () => bench.server.openSubscriptions === 1);
    for (const { entries } of [quick, busy]) expect(texts(entries).map(Number)).to.deep.equal(numbers(0, 33));
    await quick.stop();
    await busy.reaches(await write(store, 33, 36));
    expect(texts(busy.entries).map(Number)).to.deep.equal(numbers(0, 36));
    await busy.stop();
  });

  it("are given what the client appended itself without decoding it", async () => {
    let decoded = 0;
    const codec = {
      ...plainCodec, decode: (...given: Parameters<typeof plainCodec.decode>) => {
        decoded += 1;
        return plainCodec.decode(...given);
      },
    };
    const [store, rival] = [await bench.client({ codec }), await bench.client()];
    const recorder = new Recorder(store, { after: "" });
    const stream = freshStream();
    await store.append(stream, noStream, [note("a"), note("b")]);
    const { position } = await rival.append(stream, 1, [note("c")]);
    await recorder.reaches(position);
    expect(decoded).to.equal(1);
    expect(recorder.entries).to.deep.equal(await store.readStream(stream));
    await recorder.stop();
  });
});
