import { expect } from "chai";
import { ShownEvents } from "../../../../src/features/events/shown-events.ts";
import { Replaying } from "../../../../src/features/replays/replay-run.ts";
import { Replayer } from "../../../../src/features/replays/worker.ts";
import { serveAll } from "../../../../src/features/services.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import type { Clock } from "../../../../src/kernel/ports/clock.ts";
import { LogUnavailable, type EventStore } from "../../../../src/kernel/ports/event-store.ts";
import type { ReadModels } from "../../../../src/kernel/ports/read-models.ts";
import { Freshness } from "../../../../src/kernel/read-models/freshness.ts";
import { PlatformKeys } from "../../../../src/kernel/sealing/platform-keys.ts";
import { Client, openAccount, openIngest, type Account } from "../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../support/api-engines.ts";
import { http } from "../../../support/http.ts";
import { never } from "../../../support/manual-relay.ts";
import { lifeOf, mortal } from "../../../support/mortal.ts";
import { Deliveries } from "../../../support/outcomes.ts";
import { sized } from "../../../support/size.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const perSecond = 1_000;

describe("the replayer", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let other: typeof mine;
  let deliveries: Deliveries;
  let anomalies: string[];
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    deliveries = new Deliveries(api.world);
  });
  beforeEach(async () => {
    one = await openAccount(api.url);
    [mine, other] = [await target(), await target()];
    anomalies = [];
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  let elapsedMs = 0;
  /** The API's time; time for pauses and paces passes only between steps. */
  const clock: Clock = {
    now: () => api.world.clock.now(),
    monotonic: () => elapsedMs,
    schedule: (...delayed) => api.world.clock.schedule(...delayed),
  };

  /** A process of its own on these engines. */
  const replayerOn = (store: EventStore, readModels: ReadModels): Replayer => {
    const { ids, sealing } = api.world;
    const aggregates = new Aggregates(store, { clock, ids }, { max: 100 });
    serveAll(aggregates);
    const freshness = new Freshness(store, readModels, clock);
    const shown = new ShownEvents({ readModels, freshness, clock });
    const keys = new PlatformKeys({ store, sealing, clock, ids });
    const replaying = new Replaying({
      store, aggregates, readModels, freshness, shown, keys, clock, ids, metrics: uncounted,
    });
    return new Replayer({ replaying, clock, logger: quiet, metrics: { anomaly: (kind) => anomalies.push(kind) } });
  };
  const freshReplayer = () => replayerOn(engines.store, engines.readModels);

  /** A destination with room for many events, and a producer's key for it. */
  const target = async (serverRateLimit = 100) => {
    const opened = await openIngest(one.owner.client, one.tenantId);
    await one.owner.client.api.updateDestination({ id: opened.destinationId }, { serverRateLimit });
    return opened;
  };
  const accept = async (n: number) => {
    const headers = { "x-api-key": mine.apiKey, "content-type": "application/json" };
    const { json } = await http("POST", api.url + mine.path, { body: `{"n": ${n}.0}`, headers });
    // Each event has another time of acceptance.
    engines.clock.advance(1);
    return String(json["eventId"]);
  };
  const givenUp = async (count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      ids.push(await accept(n));
      await deliveries.fail(ids.at(-1)!, 1);
    }
    return ids;
  };
  const order = async (fields: object = {}) =>
    (await one.developer.client.api.orderReplay({ perSecond, ...fields })) as { readonly id: string };
  const replayOf = (id: string) => one.viewer.client.api.getReplay({ id });
  const isOver = async (id: string) => {
    const { state, done, skipped, matched } = await replayOf(id);
    return state !== "Running" && done + skipped === matched;
  };
  /** A step of each, and the time in which a replay that could do nothing is left alone; whether one did anything. */
  const step = async (...replayers: readonly Replayer[]) => {
    const worked = await Promise.all(replayers.map((replayer) => replayer.step(never)));
    elapsedMs += 250;
    return worked.includes(true);
  };
  const finish = async (id: string, ...replayers: readonly Replayer[]) => {
    const working = replayers.length > 0 ? replayers : [freshReplayer()];
    while (!(await isOver(id))) await step(...working);
    return replayOf(id);
  };
  /** Makes steps of all replays until none can go on at the moment. */
  const settled = async (replayer: Replayer) => {
    await engines.projector.drained(await engines.store.head());
    while (await step(replayer));
  };
  const typesOf = async (id: string) => {
    const { items } = await one.viewer.client.api.listEventHistory({ id, Qt: 100 });
    return items.map(({ type }) => type);
  };
  const made = async () =>
    (await one.viewer.client.api.listEvents({ DestinationUrlId: other.destinationId, Qt: 100 })).items;

  const modes = {
    "in place": {
      fields: () => ({ destinationUrlId: mine.destinationId }),
      check: async (ids: readonly string[]) => {
        for (const id of ids) {
          expect((await typesOf(id)).filter((type) => type === "EventReplayed"), id).to.have.length(1);
        }
      },
    },
    "to another destination": {
      fields: () => ({ destinationUrlId: mine.destinationId, toDestinationUrlId: other.destinationId }),
      check: async (ids: readonly string[]) => {
        const events = await made();
        expect(events.map(({ sourceEventId }) => sourceEventId)).to.have.members(ids);
        for (const { payload, sourceEventId } of events) {
          expect(payload).to.equal(`{"n": ${ids.indexOf(sourceEventId!)}.0}`);
        }
      },
    },
  };

  for (const [mode, { fields, check }] of Object.entries(modes)) {
    it(`puts each event to work once though it dies at any call of an engine, ${mode}`, async function () {
      this.timeout(120_000);
      for (const takesEffect of [true, false]) {
        for (let calls = 1, survived = false; !survived; calls += sized(3, 1)) {
          [mine, other] = [await target(), await target()];
          const ids = await givenUp(3);
          const { id } = await order({ ...fields(), ids });
          const life = lifeOf(calls, takesEffect);
          const dying = replayerOn(mortal(engines.store, life), mortal(engines.readModels, life));
          await Promise.race([finish(id, dying), life.over]);
          survived = life.calls > 0;
          expect(await finish(id), `${calls} calls`).to.include({ matched: 3, done: 3, skipped: 0 });
          await check(ids);
        }
      }
    });

    it(`puts each event to work once though two processes carry it out, ${mode}`, async () => {
      const ids = await givenUp(20);
      const { id } = await order({ ...fields(), perSecond: 7 });
      expect(await finish(id, freshReplayer(), freshReplayer())).to.include({ matched: 20, done: 20, skipped: 0 });
      await check(ids);
    });
  }

  it("leaves no more events outstanding than twice the destination's limit, of all producers", async () => {
    mine = await target(2);
    const ids = await givenUp(8);
    const live = await accept(100);
    const { id } = await order({ destinationUrlId: mine.destinationId });
    const replayer = freshReplayer();
    const waiting = async () => {
      await settled(replayer);
      const { items } = await one.viewer.client.api.listEvents({ DestinationUrlId: mine.destinationId, Qt: 100 });
      return items.flatMap((event) =>
        (event.status === "CriticalFailure" || event.status === "Succeeded" ? [] : [event.id]));
    };
    expect(await waiting()).to.have.members([live, ...ids.slice(0, 3)]);
    await deliveries.succeed(live);
    expect(await waiting()).to.have.members(ids.slice(0, 4));
    // An event counts while it is sent, and while its retry is due within a minute.
    await deliveries.start(ids[0]!);
    await deliveries.fail(ids[1]!, 9, 59_000);
    expect(await waiting()).to.have.members(ids.slice(0, 4));
    // A later retry does not count until then.
    await deliveries.fail(ids[2]!, 9, 300_000);
    expect(await waiting()).to.have.members(ids.slice(0, 5));
    for (const event of [ids[3]!, ids[4]!]) await deliveries.succeed(event);
    expect(await waiting()).to.have.members([...ids.slice(0, 3), ids[5], ids[6]]);
    const { done, state } = await replayOf(id);
    expect([state, done <= 7]).to.deep.equal(["Running", true]);
  });

  it("puts at most eight events to work at once, so that live events hardly wait for them", async () => {
    const ids = await givenUp(20);
    const { id } = await order({ ids, toDestinationUrlId: other.destinationId });
    let [underWay, most] = [0, 0];
    const counting: EventStore = new Proxy(engines.store, {
      get: (store, name) => {
        if (name !== "append") return store[name as keyof EventStore].bind(store);
        return async (...given: Parameters<EventStore["append"]>) => {
          most = Math.max(most, (underWay += 1));
          try {
            return await store.append(...given);
          } finally {
            underWay -= 1;
          }
        };
      },
    });
    expect(await finish(id, replayerOn(counting, engines.readModels))).to.include({ done: 20, skipped: 0 });
    expect(most).to.equal(8);
  });

  it("goes on with the same limit after a restart", async () => {
    mine = await target(1);
    const ids = await givenUp(5);
    await order({ destinationUrlId: mine.destinationId });
    for (let run = 0; run < 3; run += 1) await settled(freshReplayer());
    const pending = (await one.viewer.client.api.listEvents({ Status: ["Pending"], Qt: 100 })).items;
    expect(pending.map((event) => event.id)).to.have.members(ids.slice(0, 2));
  });

  it("sends in the order of acceptance: of the log, where the clocks of processes differ by up to 2 s", async () => {
    const base = engines.clock.now();
    // Each was accepted later than the one before; the times are those of three processes.
    const offsets = [0, 900, -900, 100, 1_000, -1_000, 200, 50, 4_000, 5_900, 4_100];
    const ids: string[] = [];
    for (const offset of offsets) {
      // The clock goes on meanwhile, by less than the offsets differ.
      engines.clock.advance(base + offset + 10_000 - engines.clock.now());
      ids.push(...(await givenUp(1)));
    }
    expect(ids.toSorted()).not.to.deep.equal(ids);
    for (const pace of [4, 1_000]) {
      other = await target();
      const fields = { destinationUrlId: mine.destinationId, toDestinationUrlId: other.destinationId, perSecond: pace };
      const { id } = await order(fields);
      const sources = async () => {
        const { entries } = await engines.store.readLog("", 100_000);
        return entries.flatMap((entry) => {
          const data = (entry as { readonly data?: { destinationId?: string; sourceEventId?: string } }).data;
          return data?.destinationId === other.destinationId && data.sourceEventId ? [data.sourceEventId] : [];
        });
      };
      await finish(id);
      expect(await sources(), `${pace} a second`).to.deep.equal(ids);
    }
  });

  it("passes over events that changed, were purged, or lost their destination since the order", async () => {
    const [changed, purged, again, good] = (await givenUp(4)) as [string, string, string, string];
    const gone = await target();
    mine = gone;
    const [orphan] = (await givenUp(1)) as [string];
    const ids = [changed, purged, again, good, orphan];
    const { id } = await order({ ids });
    await one.developer.client.api.replayEvent({ id: changed });
    await one.developer.client.api.replayEvent({ id: again });
    await deliveries.fail(again, 1);
    await one.owner.client.api.deleteDestination({ id: gone.destinationId });
    const { acceptedAt: before } = await one.viewer.client.api.getEvent({ id: again });
    await one.admin.client.api.purgeEvents({ before });
    const replay = await finish(id);
    expect(replay).to.include({ state: "Finished", matched: 5 });
    expect(replay.done + replay.skipped).to.equal(5);
    expect((await typesOf(changed)).filter((type) => type === "EventReplayed")).to.have.length(1);
    expect((await typesOf(again)).at(-1)).to.equal("DeliveryExhausted");
    expect((await typesOf(good)).at(-1)).to.equal("EventReplayed");
    expect((await typesOf(orphan)).at(-1)).to.equal("DeliveryExhausted");
    expect(replay.done).to.equal(1);
  });

  it("passes over an event that was replayed and given up again before its turn", async () => {
    mine = await target(1);
    const ids = await givenUp(4);
    const { id } = await order({ destinationUrlId: mine.destinationId });
    const replayer = freshReplayer();
    await settled(replayer);
    const again = ids[3]!;
    await one.developer.client.api.replayEvent({ id: again });
    await deliveries.fail(again, 1);
    for (const event of ids.slice(0, 2)) await deliveries.succeed(event);
    expect(await finish(id, replayer)).to.include({ state: "Finished", done: 3, skipped: 1 });
    expect((await typesOf(again)).at(-1)).to.equal("DeliveryExhausted");
  });

  it("puts nothing more to work once it is cancelled, and counts the events before", async () => {
    mine = await target(1);
    const ids = await givenUp(6);
    const { id } = await order({ destinationUrlId: mine.destinationId });
    const replayer = freshReplayer();
    await settled(replayer);
    const cancelled = await one.developer.client.api.cancelReplay({ id });
    expect(cancelled).to.include({ state: "Cancelled", matched: 6, finishedAt: null });
    expect((await one.viewer.client.api.listReplays()).items[0]).to.deep.equal(cancelled);
    for (const event of ids.slice(0, 2)) await deliveries.succeed(event);
    const replay = await finish(id, replayer);
    expect(replay).to.include({ state: "Cancelled", done: 2, skipped: 4 });
    expect(replay.finishedAt).to.be.a("string");
    expect((await one.viewer.client.api.listReplays()).items[0]).to.deep.equal(replay);
    expect(await replayer.step(never)).to.equal(false);
    const failed = (await one.viewer.client.api.listEvents({ Status: ["CriticalFailure"], Qt: 100 })).items;
    expect(failed.map((event) => event.id)).to.have.members(ids.slice(2));
  });

  it("lets a tenant have 100 that run, however many are ordered at once, in any process", async function () {
    this.timeout(60_000);
    await givenUp(1);
    const second = await startApi(engines);
    try {
      const orders = Array.from({ length: 130 }, (_, n) => {
        const { url } = n % 2 === 0 ? api : second;
        return new Client(url, one.developer.client.token).post("/api/v1/replays", {});
      });
      const answers = Map.groupBy(await Promise.all(orders), ({ status, text }) => (status === 202 ? 202 : text));
      expect([...answers].map(([answer, { length }]) => [answer, length])).to.have.deep.members(
        [[202, 100], ["100 replays are running; try again when one is over", 30]]);
      await settled(freshReplayer());
      await order();
    } finally {
      await second.close();
    }
  });

  it("goes on when the log answers again, and tells of it", async () => {
    const [event] = (await givenUp(1)) as [string];
    const { id } = await order({ ids: [event] });
    const { store } = engines;
    const broken = Object.create(store) as typeof store;
    broken.append = () => Promise.reject(new LogUnavailable("away"));
    await settled(replayerOn(broken, engines.readModels));
    expect(anomalies).to.include("replayer");
    expect((await replayOf(id)).state).to.equal("Running");
    expect(await finish(id)).to.include({ done: 1, skipped: 0 });
  });

  it("passes over events that only a newer release can read", async () => {
    const [newer, good] = (await givenUp(2)) as [string, string];
    await engines.store.appendNewer(streams.event(newer));
    const { id } = await order({ ids: [newer, good] });
    expect(await finish(id)).to.include({ matched: 2, done: 1, skipped: 1 });
  });
});
