import { expect } from "chai";
import { collections, fingerprint, project } from "../../../projections/index.ts";
import { destinations } from "../../../src/application/aggregate-types.ts";
import { Outcomes } from "../../../src/application/delivery/outcomes.ts";
import type { Sender } from "../../../src/application/delivery/sender.ts";
import { loadWebhook } from "../../../src/application/webhooks.ts";
import { streams } from "../../../src/domain/streams.ts";
import { logStart, type RecordedEvent } from "../../../src/ports/event-store.ts";
import { ReadModelsUnavailable, type Change, type Query, type ReadModels } from "../../../src/ports/read-models.ts";
import type { FirstAttempt } from "../../../src/ports/work-queue.ts";
import { Attempts } from "../../../src/workers/delivery/attempts.ts";
import { Claims } from "../../../src/workers/delivery/claims.ts";
import type { Claimed } from "../../../src/workers/delivery/work.ts";
import { workOf } from "../../../src/workers/forwarder.ts";
import { Purger } from "../../../src/workers/purger.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { http } from "../../support/http.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { Bench, never } from "../../support/purge-bench.ts";
import { eventually } from "../../support/relay.ts";
import { quiet } from "../../support/telemetry.ts";

describe("in the middle of a purge", () => {
  let bench: Bench;
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  let target: Awaited<ReturnType<typeof openIngest>>;

  beforeEach(async () => {
    bench = await Bench.open();
    tenant = await createTenant(bench.api.url);
    target = await openIngest(tenant.owner.client, tenant.tenantId);
  });
  afterEach(async () => {
    expect(bench.api.errors).to.deep.equal([]);
    expect(bench.store.wronged).to.deep.equal([]);
    await bench.close();
  });

  const send = (apiKey = target.apiKey, key = "one") =>
    http("POST", bench.api.url + target.path, {
      json: {},
      headers: { "x-api-key": apiKey, "x-idempotency-key": key },
    });
  const accept = async (apiKey?: string, key?: string) => {
    bench.clock.advance(1);
    const answer = await send(apiKey, key);
    expect(answer.status, answer.text).to.equal(202);
    return String(answer.json["eventId"]);
  };
  const purge = () => tenant.owner.client.post("/api/v1/events/purge", {});
  /** Has a purge come right before the next append to an event. */
  const overtake = () => {
    bench.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("event-")) return;
      bench.store.beforeAppend = () => undefined;
      await purge();
    };
  };
  const shown = async () => {
    const answer = await tenant.owner.client.get("/api/v1/events");
    expect(answer.status, answer.text).to.equal(200);
    const { total, items } = answer.json as { total: number; items: { id: string }[] };
    expect(items.length).to.equal(total);
    return items.map(({ id }) => id);
  };
  const keys = async () =>
    Object.values((await bench.rebuilt()).documents["apiKeys"] ?? {}).map(({ lastUsedAt }) => lastUsedAt);
  /** Holds up what clears purged events away, until the answer is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.models.held = promise;
    return resolve;
  };

  /** The read models are through with taking it out of sight. */
  const hidden = async () => {
    await bench.drained();
    const hiding = () => bench.models.count({ collection: "purges", where: { hiding: true } });
    await eventually(hiding, (count) => count === 0);
  };

  const matched = async () => {
    const facts = (await bench.store.readStream(`purges-${tenant.tenantId}`)) as readonly RecordedEvent[];
    return facts.flatMap(({ type, data }) =>
      type === "EventsPurged" ? [(data as unknown as { readonly matched: number }).matched] : []);
  };

  it("what finishes after it was counted stays, until the next", async () => {
    const [first, late] = [await accept(undefined, "one"), await accept(undefined, "two")];
    await bench.deliveries.succeed(first);
    bench.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("purges-")) return;
      bench.store.beforeAppend = () => undefined;
      await bench.deliveries.succeed(late);
    };
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[1], [late]]);
    expect((await tenant.owner.client.get(`/api/v1/events/${late}`)).json).to.include({ status: "Succeeded" });
    expect((await send(undefined, "two")).status).to.equal(200);
    await bench.settle();
    expect([bench.store.deleted, await shown()]).to.deep.equal([1, [late]]);
    expect(await bench.rebuilt()).to.deep.equal(bench.models.contents());
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[1, 1], []]);
  });

  it("what finishes while it is counted is counted where it is taken", async () => {
    const [first, meanwhile] = [await accept(undefined, "one"), await accept(undefined, "two")];
    await bench.deliveries.succeed(first);
    bench.models.beforeSum = async () => {
      bench.models.beforeSum = async () => undefined;
      await bench.deliveries.succeed(meanwhile);
      await bench.drained();
    };
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[2], []]);
  });

  it("what is replayed after it was counted stays", async () => {
    const id = await accept();
    await bench.deliveries.fail(id, 1);
    bench.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("purges-")) return;
      bench.store.beforeAppend = () => undefined;
      const answer = await tenant.owner.client.post(`/api/v1/events/${id}/replay`);
      expect(answer.status).to.equal(200);
      // Finished again at once: that is not what was counted.
      await bench.deliveries.succeed(id);
    };
    await purge();
    expect(await shown()).to.deep.equal([id]);
    await bench.settle();
    expect([bench.store.deleted, await shown()]).to.deep.equal([0, [id]]);
    expect(await bench.rebuilt()).to.deep.equal(bench.models.contents());
  });

  it("what another purge took, and was through with, since it was counted is not counted again", async () => {
    await bench.deliveries.succeed(await accept());
    bench.models.whenCounted = async () => {
      bench.models.whenCounted = async () => undefined;
      await purge();
      await bench.settle();
    };
    await purge();
    expect(await matched()).to.deep.equal([1, 0]);
  });

  it("all that was purged is deleted in one go, unless that is over before", async () => {
    const eventId = await accept();
    await bench.deliveries.succeed(eventId);
    await purge();
    await bench.drained();
    const hiding = { collection: "purges", where: { hiding: true } };
    await eventually(() => bench.models.count(hiding), (count) => count === 0);
    await bench.purger.run(() => true);
    expect(bench.store.deleted).to.equal(0);
    await bench.purger.run(never);
    expect(bench.store.deleted).to.equal(1);
    await bench.drained();
    expect(await bench.models.count({ collection: "purges", where: { completed: false } })).to.equal(0);
  });

  it("an event accepted again between a look and the deletion stays", async () => {
    const purged = await accept();
    await bench.deliveries.succeed(purged);
    await purge();
    expect(await shown()).to.deep.equal([]);
    let id = "";
    bench.store.beforeDelete = async () => {
      bench.store.beforeDelete = async () => undefined;
      id = await accept();
    };
    await bench.settle();
    expect(await shown()).to.deep.equal([id]);
    expect((await send()).status).to.equal(200);
    expect((await tenant.owner.client.get(`/api/v1/events/${purged}`)).status).to.equal(404);
  });

  it("of two that accept it again, neither takes the other's away", async () => {
    await bench.deliveries.succeed(await accept());
    await purge();
    let first: Promise<string> | undefined;
    bench.store.beforeDelete = async () => {
      bench.store.beforeDelete = async () => undefined;
      await (first = accept());
    };
    const second = await send();
    expect(second.status).to.equal(200);
    expect(second.json["eventId"]).to.equal(await first);
    expect(await shown()).to.deep.equal([await first]);
  });

  it("an event accepted again while it is still in sight is shown once, as it is now", async () => {
    const id = await accept();
    await bench.deliveries.succeed(id);
    expect(await shown()).to.deep.equal([id]);
    // The purge and what comes after it are then projected at one go.
    await bench.stopRunner();
    await purge();
    await bench.deliveries.fail(await accept(), 1);
    bench.startRunner();
    const list = (await tenant.owner.client.get("/api/v1/events")).json;
    expect(list).to.deep.include({ total: 1 }).and.nested.include({ "items[0].status": "CriticalFailure" });
    await bench.settle();
    expect(await bench.rebuilt()).to.deep.equal(bench.models.contents());
  });

  it("the tenant's lists wait, and give 503 when it takes long; others are not held up", async () => {
    await bench.deliveries.succeed(await accept());
    const other = await createTenant(bench.api.url);
    const goOn = hold();
    await purge();
    const waiting = tenant.owner.client.get("/api/v1/events");
    expect((await other.owner.client.get("/api/v1/events")).status).to.equal(200);
    expect((await tenant.owner.client.get("/api/v1/users")).status).to.equal(200);
    expect((await waiting).status).to.equal(503);
    const list = tenant.owner.client.get("/api/v1/events");
    goOn();
    expect((await list).json).to.deep.equal({ total: 0, items: [] });
  });

  it("what fails on the way is done again", async () => {
    await bench.deliveries.succeed(await accept());
    bench.models.failingAmends = 3;
    await purge();
    expect(await shown()).to.deep.equal([]);
    expect(bench.models.failingAmends).to.equal(0);
  });

  it("an outcome of before is not one of the event that is accepted again", async () => {
    const { world } = bench.api;
    const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
    const id = await accept();
    await bench.deliveries.start(id);
    const { state, revision } = await loadWebhook(bench.store, id);
    await bench.deliveries.lose(id, 1);
    await purge();
    const again = await accept();
    expect(await bench.deliveries.start(again)).to.equal(1);
    const answer = { statusCode: 204, headers: {}, body: "", truncated: false };
    const late = { ok: true, durationMs: 9, requestHeaders: {}, answer } as const;
    const origin = { actor: { type: "service", part: "test" }, correlationId: "late", causationId: null } as const;
    const known = { state: state!, revision };
    await outcomes.recording({ known, attempt: 1, outcome: late, origin }).finish();
    expect((await tenant.owner.client.get(`/api/v1/events/${again}`)).json).to.include({ status: "Processing" });
  });

  it("the first attempt at an event that is accepted again needs nothing read back", async () => {
    const { world } = bench.api;
    await bench.deliveries.succeed(await accept());
    await purge();
    const id = await accept();
    const [accepted] = await bench.store.readStream(streams.event(id));
    expect(accepted?.revision).to.be.greaterThan(0);
    const [item] = workOf(accepted as RecordedEvent) as [FirstAttempt];
    const answer = { statusCode: 204, headers: {}, body: "", truncated: false };
    const send = async () => ({ ok: true, durationMs: 9, requestHeaders: {}, answer }) as const;
    const sender = { send } as unknown as Sender;
    const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
    const parts = { ...world, logger: quiet, workerId: "w" };
    const claims = new Claims({ ...parts, deliveryTimeoutMs: 9 });
    await world.aggregates.read(destinations, target.destinationId);
    const claimed = await claims.claim({ kind: "first", eventId: id, item }, false);
    await new Attempts({ ...parts, outcomes, sender }).carryOut(claimed as Claimed);
    expect((await tenant.owner.client.get(`/api/v1/events/${id}`)).json).to.include({ status: "Succeeded" });
  });

  it("a runner that starts again goes on with it", async () => {
    await bench.deliveries.succeed(await accept());
    bench.models.held = Promise.reject(new ReadModelsUnavailable("down"));
    bench.models.held.catch(() => undefined);
    await purge();
    await bench.drained();
    await bench.restartRunner();
    bench.models.held = Promise.resolve();
    expect(await shown()).to.deep.equal([]);
  });

  it("the streams stay while read models are built beside those that know of it", async () => {
    await bench.deliveries.succeed(await accept());
    await purge();
    await hidden();
    bench.models.areReplaced = true;
    const read = bench.store.readLog.bind(bench.store);
    const answers: number[] = [];
    bench.store.readLog = async (after) => {
      const stretch = await read(after, 1);
      if (stretch.entries[0]?.type === "EventAccepted") {
        await bench.purger.run(never);
        answers.push((await send()).status);
      }
      return stretch;
    };
    const anew = new InMemoryReadModels();
    const runner = bench.newRunner(anew);
    runner.start();
    await runner.drained(await bench.store.head());
    bench.store.readLog = read;
    expect([answers, bench.store.deleted]).to.deep.equal([[503], 0]);
    bench.models.areReplaced = false;
    await bench.settle();
    expect(bench.store.deleted).to.equal(1);
    await runner.drained(await bench.store.head());
    await eventually(() => anew.count({ collection: "purges" }), (count) => count === 0);
    await runner.stop();
    expect(anew.contents()).to.deep.equal(await bench.rebuilt());
  });

  it("deletions come to a rest where others begin to be built meanwhile", async () => {
    const ids = await Promise.all(Array.from({ length: 51 }, (_, n) => accept(undefined, `${n}`)));
    await Promise.all(ids.map((id) => bench.deliveries.succeed(id)));
    await purge();
    await hidden();
    bench.store.beforeDelete = async () => {
      bench.models.areReplaced = true;
    };
    await bench.purger.run(never);
    expect(bench.store.deleted).to.equal(50);
    bench.models.areReplaced = false;
    bench.store.beforeDelete = async () => undefined;
    await bench.settle();
    expect(bench.store.deleted).to.equal(51);
  });

  it("read models built anew follow the log, and answer once all of it is out of their sight", async () => {
    await bench.deliveries.succeed(await accept());
    await purge();
    const anew = new (class extends InMemoryReadModels {
      readonly hidingWhenPublished: number[] = [];
      isHeld = true;

      override async amend(changes: readonly Change[]): Promise<void> {
        await new Promise(setImmediate);
        if (!this.isHeld) await super.amend(changes);
      }

      override async publish(): Promise<void> {
        this.hidingWhenPublished.push(await this.count({ collection: "purges", where: { hiding: true } }));
      }
    })();
    const runner = bench.newRunner(anew);
    runner.start();
    await runner.drained(await bench.store.head());
    await accept(undefined, "two");
    await runner.drained(await bench.store.head());
    expect(anew.hidingWhenPublished).to.deep.equal([]);
    anew.isHeld = false;
    await eventually(async () => anew.hidingWhenPublished, (published) => published.length > 0);
    expect(anew.hidingWhenPublished).to.deep.equal([0]);
    await runner.stop();
  });

  it("it is not through where read models that have not hidden it yet take the place of others", async () => {
    await bench.deliveries.succeed(await accept());
    await purge();
    await hidden();
    const anew = new InMemoryReadModels();
    await anew.reset(collections, fingerprint);
    const { entries, upTo } = await bench.store.readLog(logStart, 1_000);
    const changes = entries.flatMap((entry) =>
      entry.unreadable === undefined ? [{ position: entry.position, changes: project(entry) }] : []);
    await anew.apply(changes, upTo);
    // They take it right after the purger asked which purges there are.
    let answering: InMemoryReadModels = bench.models;
    const readModels = {
      isSettled: async () => true,
      get: (collection: string, key: string) => answering.get(collection, key),
      find: async (query: Query) => {
        const found = await answering.find(query);
        answering = anew;
        return found;
      },
    } as Partial<ReadModels> as ReadModels;
    await new Purger({ ...bench.api.world, readModels, logger: quiet }).run(never);
    const completed = async () =>
      (await bench.store.readStream(`purges-${tenant.tenantId}`)).filter(({ type }) => type === "PurgeCompleted");
    expect(await completed()).to.deep.equal([]);
    await bench.settle();
    expect([bench.store.deleted, (await completed()).length]).to.deep.equal([1, 1]);
  });

  it("a replay that a purge overtakes finds nothing", async () => {
    const id = await accept();
    await bench.deliveries.fail(id, 1);
    overtake();
    expect((await tenant.owner.client.post(`/api/v1/events/${id}/replay`)).status).to.equal(404);
    expect(await shown()).to.deep.equal([]);
    await bench.settle();
    expect(await bench.rebuilt()).to.deep.equal(bench.models.contents());
  });

  it("a bulk replay that a purge overtakes does not count what was taken", async () => {
    const id = await accept();
    await bench.deliveries.fail(id, 1);
    overtake();
    const { json } = await tenant.owner.client.post("/api/v1/events/replay", {});
    expect(json).to.deep.equal({ matched: 1, replayed: 0 });
  });

  it("the time of a key's last use outlives the events, whoever deletes them", async () => {
    const second = String((await tenant.owner.client.post("/api/v1/api-keys", { name: "second" })).json["apiKey"]);
    const id = await accept();
    await bench.deliveries.succeed(id);
    const before = await keys();
    await purge();
    const again = await accept(second);
    expect((await keys()).filter((used) => used !== null)).to.have.length(2).and.to.include(before[0]);
    await bench.deliveries.succeed(again);
    await purge();
    const uses = await keys();
    await bench.settle();
    expect(await keys()).to.deep.equal(uses);
  });

  it("the time of a key's last use never goes back", async () => {
    const id = await accept();
    await bench.deliveries.succeed(id);
    await purge();
    expect(await shown()).to.deep.equal([]);
    let acceptedAt: unknown;
    bench.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("apiKey-")) return;
      bench.store.beforeAppend = () => undefined;
      bench.clock.advance(1);
      ({ acceptedAt } = (await send(undefined, "two")).json);
    };
    await bench.settle();
    expect(acceptedAt).to.be.a("string");
    expect(Object.values(bench.models.contents().documents["apiKeys"] ?? {})).to.have.nested.property(
      "[0].lastUsedAt",
      acceptedAt,
    );
    expect(await keys()).to.deep.equal([acceptedAt]);
  });

  it("the streams go, and one fact of the purge stays", async () => {
    const id = await accept();
    await bench.deliveries.succeed(id);
    await purge();
    await bench.settle();
    expect(bench.store.deleted).to.equal(1);
    expect((await bench.store.readStream(streams.event(id))).length).to.equal(0);
    const purges = await bench.store.purges();
    expect(purges).to.have.length(1);
    const facts = await bench.store.readStream(`purges-${tenant.tenantId}`);
    expect(facts.map(({ type }) => type).slice(-2)).to.deep.equal(["EventsPurged", "PurgeCompleted"]);
  });
});
