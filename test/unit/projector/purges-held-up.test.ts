import { expect } from "chai";
import { streams } from "../../../src/kernel/domain/streams.ts";
import type { LogEntry } from "../../../src/kernel/ports/event-store.ts";
import { ReadModelsTakenOver } from "../../../src/kernel/ports/read-models.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualRelay, never } from "../../support/manual-relay.ts";
import { eventually } from "../../support/relay.ts";
import { spoiled } from "../../support/spoiled.ts";

describe("a purge that is held up", () => {
  let relay: ManualRelay;
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  let target: Awaited<ReturnType<typeof openIngest>>;

  /** Begins with one finished event. */
  beforeEach(async () => {
    relay = await ManualRelay.open();
    tenant = await createTenant(relay.api.url);
    target = await openIngest(tenant.owner.client, tenant.tenantId);
    await relay.deliveries.succeed(await accept());
  });
  afterEach(() => relay.close());

  const accept = () => relay.accept(target);
  const purge = () => tenant.owner.client.post("/api/v1/events/purge", {});

  it("is waited for by a stopping runner, which writes nothing of the purge afterwards", async () => {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const amend = relay.models.amend.bind(relay.models);
    relay.models.amend = async (changes) => {
      begun.resolve();
      await held.promise;
      await amend(changes);
    };
    await purge();
    await begun.promise;
    let isStopped = false;
    const stopped = relay.stopRunner().then(() => { isStopped = true; });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).to.equal(false);
    held.resolve();
    await stopped;
    relay.startRunner();
    const { total, items } = (await tenant.owner.client.get("/api/v1/events")).json;
    expect([total, items]).to.deep.equal([0, []]);
  });

  it("goes on when the newest entry of an event is unreadable", async () => {
    const read = relay.store.readStream.bind(relay.store);
    relay.store.readStream = async (stream, options) => {
      const entries = await read(stream, options);
      if (!options?.backwards || !stream.startsWith("event-")) return entries;
      return entries.map(spoiled);
    };
    await purge();
    await relay.settle();
    expect([relay.store.deleted, relay.store.wronged]).to.deep.equal([1, []]);
  });

  it("leaves an event with a fact of a newer release, takes the others, and stays incomplete", async () => {
    const kept = await accept();
    await relay.deliveries.succeed(kept);
    const other = await accept();
    await relay.deliveries.succeed(other);
    await purge();
    await relay.hidden();
    await relay.store.appendNewer(streams.event(kept));
    await relay.purger.run(never);
    const left = await relay.store.readStream(streams.event(kept));
    expect(left.map(({ unreadable }) => unreadable !== undefined)).to.deep.equal([false, false, false, true]);
    expect(relay.store.deleted).to.equal(2);
    const readStream = relay.store.readStream.bind(relay.store);
    let looks = 0;
    relay.store.readStream = async (...asked) => {
      if (asked[0].startsWith("event-")) looks += 1;
      return readStream(...asked);
    };
    await relay.purger.run(never);
    expect(looks, "events looked at again in vain").to.equal(0);
    expect(await relay.models.count({ collection: "purges", where: { completed: false } })).to.equal(1);
  });

  it("skips an event with an unreadable fact: it may have been replayed", async () => {
    const { deliveries, store } = relay;
    const [readLog, readStream] = [store.readLog.bind(store), store.readStream.bind(store)];
    const spoil = (entry: LogEntry) => (entry.type === "EventReplayed" ? spoiled(entry) : entry);
    store.readStream = async (...asked) => (await readStream(...asked)).map(spoil);
    store.readLog = async (...asked) => {
      const { entries, upTo } = await readLog(...asked);
      return { entries: entries.map(spoil), upTo };
    };
    const id = await accept();
    await deliveries.fail(id, 1);
    await deliveries.replay(id);
    await purge();
    await relay.settle();
    const { json } = await tenant.owner.client.get("/api/v1/events");
    expect(json).to.deep.include({ total: 1 }).and.nested.include({ "items[0].id": id });
    expect(store.deleted).to.equal(1);
  });

  it("leaves an event that waits for a newer release to the next purge after it can be read", async () => {
    const { deliveries, store } = relay;
    const id = await accept();
    await relay.drained();
    await relay.stopRunner();
    await deliveries.fail(id, 1);
    await deliveries.replay(id);
    await deliveries.succeed(id);
    const [readLog, readStream] = [store.readLog.bind(store), store.readStream.bind(store)];
    let isNewer = true;
    const seen = (entry: LogEntry) =>
      isNewer && entry.type === "EventReplayed" ? { ...spoiled(entry), newer: true } : entry;
    store.readStream = async (...asked) => (await readStream(...asked)).map(seen);
    store.readLog = async (...asked) => {
      const { entries, upTo } = await readLog(...asked);
      return { entries: entries.map(seen), upTo };
    };
    relay.startRunner();
    await purge();
    await relay.settle();
    const listed = async () => (await tenant.owner.client.get("/api/v1/events")).json;
    expect(await listed()).to.nested.include({ total: 1, "items[0].id": id, "items[0].status": "CriticalFailure" });
    await relay.stopRunner();
    isNewer = false;
    relay.startRunner();
    await eventually(() => relay.models.count({ collection: "quarantine" }), (count) => count === 0);
    expect(await listed()).to.nested.include({ total: 1, "items[0].id": id, "items[0].status": "Succeeded" });
    await purge();
    await relay.settle();
    expect(await listed()).to.deep.equal({ total: 0, items: [], nextCursor: null });
    expect([store.deleted, relay.models.contents().documents["purges"]]).to.deep.equal([2, {}]);
    expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
  });

  it("forgets the events that it took although that fails at first", async () => {
    await purge();
    await relay.drained();
    const hiding = () => relay.models.count({ collection: "purges", where: { hiding: true } });
    await eventually(hiding, (count) => count === 0);
    relay.models.failingAmends = 1;
    await relay.settle();
    expect([relay.models.failingAmends, await relay.models.count({ collection: "purging" })]).to.deep.equal([0, 0]);
  });

  it("removes open attempts of an event that another attempt had finished", async () => {
    const id = await accept();
    await relay.deliveries.succeedLate(id);
    await relay.drained();
    expect(relay.models.contents().documents["leases"]).to.have.keys(`${id}:2`);
    await purge();
    await relay.settle();
    expect([relay.store.deleted, relay.models.contents().documents["leases"]]).to.deep.equal([2, {}]);
  });

  it("goes on when another process has written the read models meanwhile", async () => {
    const amend = relay.models.amend.bind(relay.models);
    let amended = 0;
    relay.models.amend = async (changes) => {
      if ((amended += 1) === 1) throw new ReadModelsTakenOver("another began");
      await amend(changes);
    };
    await purge();
    await relay.settle();
    expect(relay.store.deleted).to.equal(1);
    expect(amended).to.be.greaterThan(1);
  });

  for (const [when, hidden] of [["is out of sight", true], ["is still in sight", false]] as const) {
    it(`freezes an event that ${when}, and lets others go on`, async () => {
      const [failed, other] = [await accept(), await accept()];
      await relay.deliveries.fail(failed, 1);
      await relay.drained();
      if (!hidden) await relay.stopRunner();
      await purge();
      if (hidden) await relay.drained();
      await relay.deliveries.replay(failed);
      await relay.deliveries.succeed(other);
      if (!hidden) relay.startRunner();
      const { json } = await tenant.owner.client.get("/api/v1/events");
      expect(json).to.deep.include({ total: 1 })
        .and.nested.include({ "items[0].id": other, "items[0].status": "Succeeded" });
      await relay.settle();
      expect(relay.store.deleted).to.equal(2);
      expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
    });
  }
});
