import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { decide, newCircuit, circuits } from "../../../../src/features/circuits/facts.ts";
import type { DomainEvent } from "../../../../src/kernel/domain/domain-event.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { Aggregates, type AggregateType } from "../../../../src/kernel/log/aggregates.ts";
import type { Origin } from "../../../../src/kernel/log/origin.ts";
import type { LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { spoilReads } from "../../../support/spoiled.ts";

const minute = 60_000;
const origin: Origin = { actor: { type: "service", part: "test" }, correlationId: "test", causationId: null };
const ids = new SystemIds();
const [idle, busy, tenantId, eventId] = Array.from({ length: 4 }, () => ids.uuid()) as [string, string, string, string];

/** Counts its facts. */
const counts: AggregateType<number, DomainEvent> = {
  category: "sender", stream: (id) => `sender-${id}`, evolve: (count = 0) => count + 1,
};
const counted = [{
  type: "SenderDeleted", data: { senderId: busy, tenantId, ingestTokenHash: "hash", at: timestamp(0) },
}];

/** A log that counts the entries that reads of streams return. */
class CountingEventStore extends InMemoryEventStore {
  read = 0;

  override async readStream(...asked: Parameters<InMemoryEventStore["readStream"]>): Promise<readonly LogEntry[]> {
    const entries = await super.readStream(...asked);
    this.read += entries.length;
    return entries;
  }
}

describe("P12 aggregates", () => {
  const setUp = () => {
    const clock = new ManualClock();
    const store = new CountingEventStore();
    const process = () => new Aggregates(store, { clock, ids }, { max: 100 }).register(circuits);
    const fail = (aggregates: Aggregates, id: string) =>
      aggregates.change(circuits, id, origin, (state = newCircuit(id, tenantId)) => decide(state, {
        type: "Record", ok: false, late: false, eventId, maxTrys: 10, timerS: 60, at: timestamp(clock.now()),
      }));
    const rest = (ms: number, meanwhile: () => void) => {
      for (let left = ms; left > 0; left -= 10_000) {
        clock.advance(10_000);
        meanwhile();
      }
    };
    return { clock, store, process, fail, rest };
  };

  it("are in memory as long as they are used, and no longer", async () => {
    const { clock, process, fail, rest } = setUp();
    const aggregates = process();
    await fail(aggregates, idle);
    await fail(aggregates, busy);
    rest(10 * minute, () => expect(aggregates.peek(circuits, busy)?.state?.failures).to.equal(1));
    expect(aggregates.peek(circuits, idle)).to.equal(undefined);
    rest(minute, () => undefined);
    expect(clock.pending).to.deep.equal([]);
  });

  it("are read from the log again with the facts that others wrote meanwhile", async () => {
    const { process, fail, rest } = setUp();
    const [here, elsewhere] = [process(), process()];
    await fail(here, idle);
    rest(minute, () => undefined);
    await fail(elsewhere, idle);
    expect((await here.read(circuits, idle)).state?.failures).to.equal(2);
    await fail(here, idle);
    expect((await elsewhere.current(circuits, idle)).state?.failures).to.equal(3);
  });

  it("are decided on synchronously where the cached state needs no fact and no change is under way", async () => {
    const here = setUp().process().register(counts);
    const changing = here.change(counts, busy, origin, () => counted);
    expect(here.change(counts, busy, origin, () => [])).to.be.instanceOf(Promise);
    await changing;
    await new Promise(setImmediate);
    expect(here.change(counts, busy, origin, () => [])).to.deep.equal({ events: [], appended: null });
  });

  it("are read page by page where their facts are many", async () => {
    const { store, process } = setUp();
    const here = process().register(counts);
    for (let times = 0; times < 200; times += 1) await here.change(counts, busy, origin, () => counted);
    const asked: number[] = [];
    const readStream = store.readStream.bind(store);
    store.readStream = async (stream, options) => {
      asked.push(options?.limit ?? Infinity);
      return readStream(stream, options);
    };
    expect(await process().register(counts).read(counts, busy)).to.deep.equal({ state: 200, revision: 199 });
    expect(asked).to.have.length(4);
    expect(Math.max(...asked)).to.be.at.most(64);
  });

  it("are read again where the log's feed is ahead of the read by more than one fact", async () => {
    const { store, process } = setUp();
    const [here, elsewhere] = [process().register(counts), process().register(counts)];
    await elsewhere.change(counts, busy, origin, () => counted);
    const readStream = store.readStream.bind(store);
    let reads = 0;
    store.readStream = async (...asked) => {
      const found = await readStream(...asked);
      if ((reads += 1) > 1) return found;
      for (let more = 0; more < 2; more += 1) await elsewhere.change(counts, busy, origin, () => counted);
      // The feed begins with the last fact.
      here.follow((await readStream(`sender-${busy}`)).slice(-1));
      return found;
    };
    expect(await here.read(counts, busy)).to.deep.equal({ state: 3, revision: 2 });
    expect(reads).to.equal(2);
  });

  it("whose facts hold their whole state are read from the newest one", async () => {
    const { store, process, fail } = setUp();
    const here = process();
    for (let times = 0; times < 20; times += 1) await fail(here, busy);
    store.read = 0;
    expect(await process().read(circuits, busy)).to.deep.equal(await here.read(circuits, busy));
    expect(store.read).to.equal(1);
  });

  describe("of which a newer release wrote a part", () => {
    const stream = `sender-${busy}`;
    const refusal = "cannot be read by this process: a newer release of the relay wrote a part of it";
    const refused = (task: () => unknown) =>
      (async () => task())().then(() => "nothing", (error: Error) => error.message);

    it("are refused, and not read from the log again", async () => {
      const { store, process } = setUp();
      const here = process().register(counts);
      await here.change(counts, busy, origin, () => counted);
      await store.appendNewer(stream);
      const there = process().register(counts);
      store.read = 0;
      for (let times = 0; times < 3; times += 1) {
        expect(await refused(() => there.read(counts, busy))).to.equal(`the record ${stream} ${refusal}`);
      }
      expect(store.read).to.equal(2);
      expect(there.peek(counts, busy)).to.equal(undefined);
      expect(await refused(() => there.change(counts, busy, origin, () => counted))).to.include(refusal);
      expect(await refused(() => there.current(counts, busy))).to.include(refusal);
      expect(await store.readStream(stream)).to.have.length(2);
    });

    it("are refused once the log's feed brings that part, also after a readable fact behind it", async () => {
      const { store, process } = setUp();
      const here = process().register(counts);
      await here.change(counts, busy, origin, () => counted);
      await store.appendNewer(stream);
      const [first, newer] = await store.readStream(stream);
      here.follow([newer!]);
      expect(await refused(() => here.read(counts, busy))).to.include(refusal);
      here.follow([{ ...first!, revision: 2 }]);
      expect(await refused(() => here.read(counts, busy))).to.include(refusal);
    });

    it("are read where a later fact holds the whole state", async () => {
      const { store, process, fail } = setUp();
      const [here, newerProcess] = [process(), process()];
      await fail(newerProcess, busy);
      await here.read(circuits, busy);
      await store.appendNewer(`circuit-${busy}`);
      const [counted, newer] = await store.readStream(`circuit-${busy}`);
      here.follow([newer!]);
      expect(await refused(() => here.read(circuits, busy))).to.include(refusal);
      here.follow([{ ...counted!, revision: 2 }]);
      expect(here.peek(circuits, busy)?.state?.failures).to.equal(1);
      expect(here.peek(circuits, busy)?.revision).to.equal(2);
    });
  });

  it("are refused as damaged where no release can read a part of them", async () => {
    const { store, process } = setUp();
    const here = process().register(counts);
    await here.change(counts, busy, origin, () => counted);
    spoilReads(store, () => true);
    const error = await (async () => process().register(counts).read(counts, busy))().catch(String);
    expect(error).to.include(`the record sender-${busy} cannot be read by any process: a part of it is damaged`);
  });
});
