import { expect } from "chai";
import { collections, fingerprint, project } from "../../../projections/index.ts";
import { Attempts } from "../../../src/delivery/dispatch/attempts.ts";
import { Claims } from "../../../src/delivery/dispatch/claims.ts";
import { workOf } from "../../../src/delivery/dispatch/forwarder.ts";
import type { Claimed } from "../../../src/delivery/dispatch/work.ts";
import type { DeliveryClient } from "../../../src/delivery/requests/delivery-client.ts";
import { Outcomes } from "../../../src/delivery/requests/recording.ts";
import { destinations } from "../../../src/features/destinations/facts.ts";
import { loadWebhook } from "../../../src/features/events/webhooks.ts";
import { Purger } from "../../../src/features/purges/worker.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { logStart, type RecordedEvent } from "../../../src/kernel/ports/event-store.ts";
import {
  ReadModelsUnavailable, type Change, type Query, type ReadModels,
} from "../../../src/kernel/ports/read-models.ts";
import type { FirstAttempt } from "../../../src/kernel/ports/work-queue.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { http } from "../../support/http.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualRelay, never } from "../../support/manual-relay.ts";
import { noPause, success } from "../../support/outcomes.ts";
import { eventually } from "../../support/relay.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";

describe("in the middle of a purge", () => {
  let relay: ManualRelay;
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  let target: Awaited<ReturnType<typeof openIngest>>;

  beforeEach(async () => {
    relay = await ManualRelay.open();
    tenant = await createTenant(relay.api.url);
    target = await openIngest(tenant.owner.client, tenant.tenantId);
  });
  afterEach(async () => {
    expect(relay.api.errors).to.deep.equal([]);
    expect(relay.store.wronged).to.deep.equal([]);
    await relay.close();
  });

  const send = (apiKey = target.apiKey, key = "one") =>
    http("POST", relay.api.url + target.path, {
      json: {},
      headers: { "x-api-key": apiKey, "x-idempotency-key": key },
    });
  const accept = async (apiKey?: string, key?: string) => {
    relay.clock.advance(1);
    const answer = await send(apiKey, key);
    expect(answer.status, answer.text).to.equal(202);
    return String(answer.json["eventId"]);
  };
  const purge = () => tenant.owner.client.post("/api/v1/events/purge", {});
  /** Purges right before the next append to an event. */
  const overtake = () => {
    relay.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("event-")) return;
      relay.store.beforeAppend = () => undefined;
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
    Object.values((await relay.rebuilt()).documents["apiKeys"] ?? {}).map(({ lastUsedAt }) => lastUsedAt);
  /** Holds up the removal of purged events until the result is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    relay.models.held = promise;
    return resolve;
  };

  /** Waits until the read models have hidden the purged events. */
  const hidden = async () => {
    await relay.drained();
    const hiding = () => relay.models.count({ collection: "purges", where: { hiding: true } });
    await eventually(hiding, (count) => count === 0);
  };

  const matched = async () => {
    const facts = (await relay.store.readStream(`purges-${tenant.tenantId}`)) as readonly RecordedEvent[];
    return facts.flatMap(({ type, data }) =>
      type === "EventsPurged" ? [(data as unknown as { readonly matched: number }).matched] : []);
  };

  it("events that finish after the count stay until the next purge", async () => {
    const [first, late] = [await accept(undefined, "one"), await accept(undefined, "two")];
    await relay.deliveries.succeed(first);
    relay.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("purges-")) return;
      relay.store.beforeAppend = () => undefined;
      await relay.deliveries.succeed(late);
    };
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[1], [late]]);
    expect((await tenant.owner.client.get(`/api/v1/events/${late}`)).json).to.include({ status: "Succeeded" });
    expect((await send(undefined, "two")).status).to.equal(200);
    await relay.settle();
    expect([relay.store.deleted, await shown()]).to.deep.equal([1, [late]]);
    expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[1, 1], []]);
  });

  it("events that finish during the count are counted if they are taken", async () => {
    const [first, meanwhile] = [await accept(undefined, "one"), await accept(undefined, "two")];
    await relay.deliveries.succeed(first);
    relay.models.beforeSum = async () => {
      relay.models.beforeSum = async () => undefined;
      await relay.deliveries.succeed(meanwhile);
      await relay.drained();
    };
    await purge();
    expect([await matched(), await shown()]).to.deep.equal([[2], []]);
  });

  it("events that are replayed after the count stay", async () => {
    const id = await accept();
    await relay.deliveries.fail(id, 1);
    relay.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("purges-")) return;
      relay.store.beforeAppend = () => undefined;
      const answer = await tenant.owner.client.post(`/api/v1/events/${id}/replay`);
      expect(answer.status).to.equal(200);
      // Finished again at once, but after the count.
      await relay.deliveries.succeed(id);
    };
    await purge();
    expect(await shown()).to.deep.equal([id]);
    await relay.settle();
    expect([relay.store.deleted, await shown()]).to.deep.equal([0, [id]]);
    expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
  });

  it("events that another purge took and deleted since the count are not counted again", async () => {
    await relay.deliveries.succeed(await accept());
    relay.models.whenCounted = async () => {
      relay.models.whenCounted = async () => undefined;
      await purge();
      await relay.settle();
    };
    await purge();
    expect(await matched()).to.deep.equal([1, 0]);
  });

  it("all purged events are deleted in one run, unless it is stopped", async () => {
    const eventId = await accept();
    await relay.deliveries.succeed(eventId);
    await purge();
    await relay.drained();
    const hiding = { collection: "purges", where: { hiding: true } };
    await eventually(() => relay.models.count(hiding), (count) => count === 0);
    await relay.purger.run(() => true);
    expect(relay.store.deleted).to.equal(0);
    await relay.purger.run(never);
    expect(relay.store.deleted).to.equal(1);
    await relay.drained();
    expect(await relay.models.count({ collection: "purges", where: { completed: false } })).to.equal(0);
  });

  it("an event accepted again between a look and the deletion stays", async () => {
    const purged = await accept();
    await relay.deliveries.succeed(purged);
    await purge();
    expect(await shown()).to.deep.equal([]);
    let id = "";
    relay.store.beforeDelete = async () => {
      relay.store.beforeDelete = async () => undefined;
      id = await accept();
    };
    await relay.settle();
    expect(await shown()).to.deep.equal([id]);
    expect((await send()).status).to.equal(200);
    expect((await tenant.owner.client.get(`/api/v1/events/${purged}`)).status).to.equal(404);
  });

  it("of two requests that accept the event again, neither deletes the other's", async () => {
    await relay.deliveries.succeed(await accept());
    await purge();
    let first: Promise<string> | undefined;
    relay.store.beforeDelete = async () => {
      relay.store.beforeDelete = async () => undefined;
      await (first = accept());
    };
    const second = await send();
    expect(second.status).to.equal(200);
    expect(second.json["eventId"]).to.equal(await first);
    expect(await shown()).to.deep.equal([await first]);
  });

  it("an event accepted again before its purge is projected is shown once, in its new state", async () => {
    const id = await accept();
    await relay.deliveries.succeed(id);
    expect(await shown()).to.deep.equal([id]);
    // The purge and the following facts are then projected in one batch.
    await relay.stopRunner();
    await purge();
    await relay.deliveries.fail(await accept(), 1);
    relay.startRunner();
    const list = (await tenant.owner.client.get("/api/v1/events")).json;
    expect(list).to.deep.include({ total: 1 }).and.nested.include({ "items[0].status": "CriticalFailure" });
    await relay.settle();
    expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
  });

  it("the tenant's lists wait, and give 503 after a timeout; other tenants are not held up", async () => {
    await relay.deliveries.succeed(await accept());
    const other = await createTenant(relay.api.url);
    const goOn = hold();
    await purge();
    const waiting = tenant.owner.client.get("/api/v1/events");
    expect((await other.owner.client.get("/api/v1/events")).status).to.equal(200);
    expect((await tenant.owner.client.get("/api/v1/users")).status).to.equal(200);
    expect((await waiting).status).to.equal(503);
    const list = tenant.owner.client.get("/api/v1/events");
    goOn();
    expect((await list).json).to.deep.equal({ total: 0, items: [], nextCursor: null });
  });

  it("failed amendments are tried again", async () => {
    await relay.deliveries.succeed(await accept());
    relay.models.failingAmends = 3;
    await purge();
    expect(await shown()).to.deep.equal([]);
    expect(relay.models.failingAmends).to.equal(0);
  });

  it("an outcome of the purged event is not recorded for the event accepted again", async () => {
    const { world } = relay.api;
    const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
    const id = await accept();
    await relay.deliveries.start(id);
    const { state, revision } = await loadWebhook(relay.store, id);
    await relay.deliveries.lose(id, 1);
    await purge();
    const again = await accept();
    expect(await relay.deliveries.start(again)).to.equal(1);
    const answer = { statusCode: 204, headers: {}, body: "", truncated: false };
    const late = { ok: true, durationMs: 9, requestHeaders: {}, answer } as const;
    const origin = { actor: { type: "service", part: "test" }, correlationId: "late", causationId: null } as const;
    const known = { state: state!, revision };
    await outcomes.recording({ known, attempt: 1, outcome: late, origin }).finish();
    expect((await tenant.owner.client.get(`/api/v1/events/${again}`)).json).to.include({ status: "Processing" });
  });

  it("the first attempt at an event accepted again reads nothing back", async () => {
    const { world } = relay.api;
    await relay.deliveries.succeed(await accept());
    await purge();
    const id = await accept();
    const [accepted] = await relay.store.readStream(streams.event(id));
    expect(accepted?.revision).to.be.greaterThan(0);
    const [item] = workOf(accepted as RecordedEvent) as [FirstAttempt];
    const client = { send: async () => success } as unknown as DeliveryClient;
    const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
    const parts = { ...world, logger: quiet, workerId: "w" };
    const claims = new Claims({ ...parts, deliveryTimeoutMs: 9 });
    await world.aggregates.read(destinations, target.destinationId);
    const claimed = await claims.claim({ kind: "first", eventId: id, item }, false, () => true);
    await new Attempts({ ...parts, outcomes, client }).carryOut(claimed as Claimed, noPause);
    expect((await tenant.owner.client.get(`/api/v1/events/${id}`)).json).to.include({ status: "Succeeded" });
  });

  it("a restarted runner goes on with the purge", async () => {
    await relay.deliveries.succeed(await accept());
    relay.models.held = Promise.reject(new ReadModelsUnavailable("down"));
    relay.models.held.catch(() => undefined);
    await purge();
    await relay.drained();
    await relay.restartRunner();
    relay.models.held = Promise.resolve();
    expect(await shown()).to.deep.equal([]);
  });

  it("the streams stay while other read models are built beside the ones with the purge", async () => {
    await relay.deliveries.succeed(await accept());
    await purge();
    await hidden();
    relay.models.areReplaced = true;
    const read = relay.store.readLog.bind(relay.store);
    const answers: number[] = [];
    relay.store.readLog = async (after) => {
      const stretch = await read(after, 1);
      if (stretch.entries[0]?.type === "EventAccepted") {
        await relay.purger.run(never);
        answers.push((await send()).status);
      }
      return stretch;
    };
    const anew = new InMemoryReadModels();
    const runner = relay.newRunner(anew);
    runner.start();
    await runner.drained(await relay.store.head());
    relay.store.readLog = read;
    expect([answers, relay.store.deleted]).to.deep.equal([[503], 0]);
    relay.models.areReplaced = false;
    await relay.settle();
    expect(relay.store.deleted).to.equal(1);
    await runner.drained(await relay.store.head());
    await eventually(() => anew.count({ collection: "purges" }), (count) => count === 0);
    await runner.stop();
    expect(anew.contents()).to.deep.equal(await relay.rebuilt());
  });

  it("deletions pause when other read models begin to be built", async () => {
    const ids = await Promise.all(Array.from({ length: 51 }, (_, n) => accept(undefined, `${n}`)));
    await Promise.all(ids.map((id) => relay.deliveries.succeed(id)));
    await purge();
    await hidden();
    relay.store.beforeDelete = async () => {
      relay.models.areReplaced = true;
    };
    await relay.purger.run(never);
    expect(relay.store.deleted).to.equal(50);
    relay.models.areReplaced = false;
    relay.store.beforeDelete = async () => undefined;
    await relay.settle();
    expect(relay.store.deleted).to.equal(51);
  });

  it("rebuilt read models hide all purged events before they are published", async () => {
    await relay.deliveries.succeed(await accept());
    await purge();
    await accept(undefined, "two");
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const anew = new (class extends InMemoryReadModels {
      readonly hidingWhenPublished: number[] = [];
      amended = 0;

      override async amend(changes: readonly Change[]): Promise<void> {
        this.amended += 1;
        await held;
        await super.amend(changes);
      }

      override async publish(): Promise<void> {
        this.hidingWhenPublished.push(await this.count({ collection: "purges", where: { hiding: true } }));
      }
    })();
    const runner = relay.newRunner(anew);
    runner.start();
    await eventually(async () => anew.amended, (amended) => amended > 0);
    expect(anew.hidingWhenPublished).to.deep.equal([]);
    release();
    await runner.drained(await relay.store.head());
    await eventually(async () => anew.hidingWhenPublished, (published) => published.length > 0);
    expect(anew.hidingWhenPublished).to.deep.equal([0]);
    await runner.stop();
  });

  it("it is not completed when read models that have not hidden its events replace others", async () => {
    await relay.deliveries.succeed(await accept());
    await purge();
    await hidden();
    const anew = new InMemoryReadModels();
    await anew.reset(collections, fingerprint);
    const { entries, upTo } = await relay.store.readLog(logStart, 1_000);
    const changes = entries.flatMap((entry) =>
      entry.unreadable === undefined ? [{ position: entry.position, changes: project(entry) }] : []);
    await anew.apply(changes, upTo);
    // They replace the others right after the purger has listed the purges.
    let answering: InMemoryReadModels = relay.models;
    const readModels = {
      settle: async () => true,
      get: (collection: string, key: string) => answering.get(collection, key),
      find: async (query: Query) => {
        const found = await answering.find(query);
        answering = anew;
        return found;
      },
    } as Partial<ReadModels> as ReadModels;
    await new Purger({ ...relay.api.world, readModels, logger: quiet, metrics: uncounted }).run(never);
    const completed = async () =>
      (await relay.store.readStream(`purges-${tenant.tenantId}`)).filter(({ type }) => type === "PurgeCompleted");
    expect(await completed()).to.deep.equal([]);
    await relay.settle();
    expect([relay.store.deleted, (await completed()).length]).to.deep.equal([1, 1]);
  });

  it("a replay that a purge overtakes finds nothing", async () => {
    const id = await accept();
    await relay.deliveries.fail(id, 1);
    overtake();
    expect((await tenant.owner.client.post(`/api/v1/events/${id}/replay`)).status).to.equal(404);
    expect(await shown()).to.deep.equal([]);
    await relay.settle();
    expect(await relay.rebuilt()).to.deep.equal(relay.models.contents());
  });

  it("a bulk replay that a purge overtakes does not count purged events", async () => {
    const id = await accept();
    await relay.deliveries.fail(id, 1);
    overtake();
    const { json } = await tenant.owner.client.post("/api/v1/events/replay", {});
    expect(json).to.deep.equal({ matched: 1, replayed: 0 });
  });

  it("the time of a key's last use outlives the deleted events", async () => {
    const second = String((await tenant.owner.client.post("/api/v1/api-keys", { name: "second" })).json["apiKey"]);
    const id = await accept();
    await relay.deliveries.succeed(id);
    const before = await keys();
    await purge();
    const again = await accept(second);
    expect((await keys()).filter((used) => used !== null)).to.have.length(2).and.to.include(before[0]);
    await relay.deliveries.succeed(again);
    await purge();
    const uses = await keys();
    await relay.settle();
    expect(await keys()).to.deep.equal(uses);
  });

  it("the time of a key's last use never goes back", async () => {
    const id = await accept();
    await relay.deliveries.succeed(id);
    await purge();
    expect(await shown()).to.deep.equal([]);
    let acceptedAt: unknown;
    relay.store.beforeAppend = async (stream) => {
      if (!stream.startsWith("apiKey-")) return;
      relay.store.beforeAppend = () => undefined;
      relay.clock.advance(1);
      ({ acceptedAt } = (await send(undefined, "two")).json);
    };
    await relay.settle();
    expect(acceptedAt).to.be.a("string");
    const [projected] = Object.values(relay.models.contents().documents["apiKeys"] ?? {});
    expect(projected).to.have.property("lastUsedAt", acceptedAt);
    expect(await keys()).to.deep.equal([acceptedAt]);
  });

  it("the streams are deleted, and one fact of the purge stays", async () => {
    const id = await accept();
    await relay.deliveries.succeed(id);
    await purge();
    await relay.settle();
    expect(relay.store.deleted).to.equal(1);
    expect((await relay.store.readStream(streams.event(id))).length).to.equal(0);
    const purges = await relay.store.purges();
    expect(purges).to.have.length(1);
    const facts = await relay.store.readStream(`purges-${tenant.tenantId}`);
    expect(facts.map(({ type }) => type).slice(-2)).to.deep.equal(["EventsPurged", "PurgeCompleted"]);
  });
});
