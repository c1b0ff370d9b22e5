import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { collections, fingerprint } from "../../../../projections/index.ts";
import type { MomentDocument } from "../../../../projections/moments/moments.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { Moments, type Moment } from "../../../../src/kernel/log/moments.ts";
import { logStart, noStream, type NewEntry } from "../../../../src/kernel/ports/event-store.ts";
import { Freshness } from "../../../../src/kernel/read-models/freshness.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { position } from "../../../support/position.ts";
import { projectorOf } from "../../../support/projector.ts";
import { metadata } from "../../../support/recorded.ts";

const tenantId = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e01";

const start = Date.UTC(2026, 0, 31, 12);
/** A time in seconds after the start. */
const second = (at: number) => timestamp(start + at * 1_000);

/** The append of an entry with this time, in a stream of its own. */
function sessionRevoked(at: string): [stream: string, expected: number, entries: readonly NewEntry[]] {
  const tokenId = randomUUID();
  const data = { tokenId, userId: tenantId, tenantId, expiresAt: at, at };
  const event = { type: "SessionRevoked", data };
  return [`session-${tokenId}`, noStream, [{ id: randomUUID(), event, metadata: { ...metadata, at } }]];
}

describe("moments of a log", () => {
  let clock: ManualClock;
  let store: InMemoryEventStore;
  let moments: Moments;
  let models: InMemoryReadModels;
  /** Entries of the whole log that were read since the last {@link written}. */
  let read: number;
  beforeEach(() => {
    clock = new ManualClock();
    clock.advance(start + 10_000_000 - clock.now());
    store = new InMemoryEventStore();
    models = new InMemoryReadModels();
    moments = new Moments({ store, readModels: models, freshness: new Freshness(store, models, clock), clock });
    const readTimes = store.readTimes.bind(store);
    store.readTimes = async (...asked) => {
      const page = await readTimes(...asked);
      read += page.times.length;
      return page;
    };
  });

  /** Writes entries of these times, and projects them. */
  const written = async (...seconds: readonly number[]) => {
    for (const at of seconds) await store.append(...sessionRevoked(second(at)));
    await projectorOf({ log: store, models, clock }).rebuild();
    read = 0;
  };
  const places = (times: readonly number[]) =>
    Promise.all(times.map(async (at) => (await moments.find(tenantId, { time: second(at) })).moment.position));

  it("are the last entries up to which no time is later, though times of entries go back", async () => {
    const times = [0, 10, 70, 30, 65, 200, 100, 201, 500];
    await written(...times);
    const asked = [-1, 0, 9, 10, 30, 64, 66, 70, 100, 199, 200, 201, 499, 500, 9_000];
    const expected = asked.map((at) => {
      const later = times.findIndex((time) => time > at);
      return position(later < 0 ? times.length : later);
    });
    expect(await places(asked)).to.deep.equal(expected);
  });

  it("have the latest time up to a position", async () => {
    const times = [0, 10, 70, 30, 65, 200, 100, 201, 500];
    await written(...times);
    for (const [at] of times.slice(0, -1).entries()) {
      const time = second(Math.max(...times.slice(0, at + 1)));
      const moment: Moment = { time, position: position(at + 1) };
      const found = await moments.find(tenantId, { position: moment.position });
      expect(found).to.deep.equal({ moment, isPresent: false });
    }
    const before = "0".repeat(16);
    expect((await moments.find(tenantId, { position: before })).moment).to.have.property("position", before);
  });

  it("are found without reading more than about two minutes of the log, and once", async () => {
    await written(...Array.from({ length: 4_000 }, (_, at) => at));
    expect(await places([3_000])).to.deep.equal([position(3_001)]);
    // A page is read whole, though the moment is in its middle.
    expect(read).to.be.within(1, 500);
    read = 0;
    await places([3_000]);
    expect(await moments.find(tenantId, { position: position(3_001) })).to.deep.equal({
      moment: { time: second(3_000), position: position(3_001) }, isPresent: false,
    });
    expect(read).to.equal(0);
  });

  it("may get more entries as long as none is of a later time", async () => {
    await written(0, 10);
    expect(await places([20])).to.deep.equal([position(2)]);
    await written(15);
    expect(await places([20])).to.deep.equal([position(3)]);
    await written(30, 16);
    expect(await places([20])).to.deep.equal([position(3)]);
  });

  it("are the same where the entries that began minutes were deleted", async () => {
    await written(0, 10, 70, 80, 130, 190, 200);
    const asked = [5, 65, 70, 75, 100, 129, 150, 189, 195];
    const before = await places(asked);
    for (const { stream } of (await store.readLog(logStart, 100)).entries.filter((_, at) => [2, 4].includes(at))) {
      await store.deleteStream(stream);
    }
    moments = new Moments({ store, readModels: models, freshness: new Freshness(store, models, clock), clock });
    const counted = async (found: readonly string[]) => {
      const { entries } = await store.readLog(logStart, 100);
      return found.map((place) => entries.filter((entry) => entry.position <= place).length);
    };
    const expected = await counted(before);
    expect(await counted(await places(asked))).to.deep.equal(expected);
    await written();
    moments = new Moments({ store, readModels: models, freshness: new Freshness(store, models, clock), clock });
    expect(await counted(await places(asked))).to.deep.equal(expected);
  });

  it("have one place for each minute, wherever the batches of the projection end", async () => {
    const times = [0, 59, 60, 20, 61, 300, 299, 301];
    const contents: unknown[] = [];
    for (const pieces of [[times], times.map((time) => [time])]) {
      store = new InMemoryEventStore();
      models = new InMemoryReadModels();
      await models.reset(collections, fingerprint);
      const runner = projectorOf({ log: store, models, clock });
      for (const piece of pieces) {
        for (const at of piece) await store.append(...sessionRevoked(second(at)));
        const stopped = projectorOf({ log: store, models, clock });
        stopped.start();
        await models.caughtUp(await store.head(), 10_000);
        await stopped.stop();
      }
      contents.push(models.contents().documents["moments"]);
      await runner.rebuild();
      contents.push(models.contents().documents["moments"]);
    }
    const rows = Object.values(contents[0] as Readonly<Record<string, MomentDocument>>);
    expect(rows.map((row) => [row.at, row.position])).to.deep.equal([
      [second(0), position(1)], [second(60), position(3)], [second(300), position(6)],
    ]);
    for (const one of contents.slice(1)) expect(one).to.deep.equal(contents[0]);
  });
});
