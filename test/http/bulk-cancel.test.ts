import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { LogUnavailable, type EventStore } from "../../src/kernel/ports/event-store.ts";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("bulk cancellation", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    deliveries = new Deliveries(api.world);
  });
  beforeEach(async () => {
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const accept = async (to = mine) => {
    const answer = await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey } });
    // Each event has another time of acceptance.
    engines.clock.advance(1);
    return answer.json as { eventId: string; acceptedAt: string };
  };
  const retried = async (to = mine) => {
    const accepted = await accept(to);
    await deliveries.fail(accepted.eventId, 2);
    return accepted;
  };
  const outcome = async (fields: object = {}, by = one.developer.client) => {
    const answer = await by.post("/api/v1/events/cancel", fields);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "bulk-cancellation");
  };
  const statusOf = async (id: string) => (await one.viewer.client.get(`/api/v1/events/${id}`)).json["status"];
  const recorded = async () => {
    const answer = await one.viewer.client.get(`/api/v1/tenants/${one.tenantId}/cancellations/history`);
    return answer.json["items"] as { type: string; correlationId: string; data: Record<string, unknown> }[];
  };

  it("cancels waiting events, and no others", async () => {
    const [pending, waiting] = [await accept(), await retried()];
    const others = [await accept(), await accept(), await accept()];
    await deliveries.start(others[0]!.eventId);
    await deliveries.succeed(others[1]!.eventId);
    await deliveries.fail(others[2]!.eventId, 1);
    expect(await outcome()).to.deep.equal({ matched: 2, cancelled: 2 });
    for (const { eventId } of [pending, waiting]) expect(await statusOf(eventId)).to.equal("Cancelled");
    const after = await Promise.all(others.map(({ eventId }) => statusOf(eventId)));
    expect(after).to.deep.equal(["Processing", "Succeeded", "CriticalFailure"]);
    expect(await outcome()).to.deep.equal({ matched: 0, cancelled: 0 });
  });

  it("obeys each filter, and all of them together", async () => {
    const elsewhere = await openIngest(one.owner.client, one.tenantId);
    const [first, second, third] = [await accept(), await retried(), await accept(elsewhere)];
    const matched = async (fields: object) => (await outcome({ ...fields, dryRun: true }))["matched"];
    const ids = [first, second, third].map(({ eventId }) => eventId);
    for (const [fields, count] of [
      [{}, 3],
      [{ destinationUrlId: mine.destinationId.toUpperCase() }, 2],
      [{ destinationUrlId: nowhere }, 0],
      [{ status: "Pending" }, 2],
      [{ status: ["WaitingRetry"] }, 1],
      [{ status: ["WaitingRetry", "Pending", "Pending"] }, 3],
      [{ from: second.acceptedAt }, 2],
      [{ to: second.acceptedAt }, 2],
      [{ from: second.acceptedAt, to: second.acceptedAt }, 1],
      [{ ids: [ids[0], ids[2]?.toUpperCase(), ids[2], nowhere] }, 2],
      [{ ids, destinationUrlId: mine.destinationId, status: "Pending" }, 1],
      [{ ids, to: first.acceptedAt }, 1],
    ] as const) expect(await matched(fields), JSON.stringify(fields)).to.equal(count);
    expect(await outcome({ ids: [ids[1]], status: "WaitingRetry" })).to.deep.equal({ matched: 1, cancelled: 1 });
    expect(await Promise.all(ids.map(statusOf))).to.deep.equal(["Pending", "Cancelled", "Pending"]);
  });

  it("finds a thousand ids, and cancels more than a page of events", async () => {
    const many = await Promise.all(Array.from({ length: 620 }, () => accept()));
    const ids = many.map(({ eventId }) => eventId);
    const named = [...ids.slice(0, 70), ...Array.from({ length: 930 }, () => crypto.randomUUID())];
    expect(await outcome({ ids: named })).to.deep.equal({ matched: 70, cancelled: 70 });
    expect(await outcome()).to.deep.equal({ matched: 550, cancelled: 550 });
    const { statuses } = (await one.viewer.client.get("/api/v1/events/totals")).json as { statuses: object };
    expect(statuses).to.include({ Pending: 0, Cancelled: 620 });
  });

  it("only counts in a dry run", async () => {
    const { eventId } = await accept();
    expect(await outcome({ dryRun: true })).to.deep.equal({ matched: 1 });
    expect(await statusOf(eventId)).to.equal("Pending");
    expect(await recorded()).to.deep.equal([]);
  });

  it("does not touch another tenant's events, named by their ids too", async () => {
    const other = await openAccount(api.url);
    const theirs = await accept(await openIngest(other.owner.client, other.tenantId));
    for (const fields of [{}, { ids: [theirs.eventId] }]) {
      expect(await outcome(fields)).to.deep.equal({ matched: 0, cancelled: 0 });
    }
    expect((await other.viewer.client.get(`/api/v1/events/${theirs.eventId}`)).json["status"]).to.equal("Pending");
  });

  it("does not count events whose status changed meanwhile", async () => {
    const [stays, begins, fails] = [await accept(), await accept(), await accept()];
    const { store } = engines;
    const append = store.append.bind(store);
    let isFirst = true;
    const mend = () => Reflect.deleteProperty(store, "append");
    Object.assign(store, {
      append: async (...args: Parameters<EventStore["append"]>) => {
        if (isFirst && args[0] === streams.cancellations(one.tenantId)) {
          isFirst = false;
          mend();
          await deliveries.start(begins.eventId);
          await deliveries.fail(fails.eventId, 2);
        }
        return append(...args);
      },
    });
    try {
      expect(await outcome({ status: "Pending" })).to.deep.equal({ matched: 3, cancelled: 1 });
    } finally {
      mend();
    }
    const after = await Promise.all([stays, begins, fails].map(({ eventId }) => statusOf(eventId)));
    expect(after).to.deep.equal(["Cancelled", "Processing", "WaitingRetry"]);
  });

  it("tells who cancelled which events in its history and the audit, under the correlation id of each", async () => {
    const { eventId } = await accept();
    await outcome({ destinationUrlId: mine.destinationId, ids: [eventId, nowhere] });
    const facts = await recorded();
    expect(facts.map(({ type, data }) => [type, data["matched"] ?? data["cancelled"]]))
      .to.deep.equal([["CancellationOrdered", 1], ["CancellationCompleted", 1]]);
    expect(facts[0]?.data).to.include({ destinationId: mine.destinationId, from: null, to: null, ids: 2 });
    expect(facts[0]?.data["statuses"]).to.deep.equal(["Pending", "WaitingRetry"]);
    const { items } = (await one.viewer.client.get(`/api/v1/events/${eventId}/history`)).json as {
      items: { type: string; correlationId: string }[];
    };
    expect(items.at(-1)).to.include({ type: "EventCancelled", correlationId: facts[0]?.correlationId });
    const audit = (await one.viewer.client.get("/api/v1/audit?Type=CancellationOrdered")).json["items"] as object[];
    expect(audit).to.have.length(1);
    expect(audit[0]).to.deep.nested.include({
      "actor.id": one.developer.id,
      subject: { type: "cancellation", id: facts[0]?.data["cancellationId"], name: null },
    });
  });

  it("goes on with the rest when it is repeated after the log was away", async () => {
    for (let count = 0; count < 120; count++) await accept();
    const { store } = engines;
    const append = store.append.bind(store);
    let left = 60;
    Object.assign(store, {
      append: async (...args: Parameters<EventStore["append"]>) => {
        if (left-- <= 0) throw new LogUnavailable("away");
        return append(...args);
      },
    });
    try {
      expect((await one.developer.client.post("/api/v1/events/cancel", {})).status).to.equal(503);
    } finally {
      Reflect.deleteProperty(store, "append");
    }
    const { matched, cancelled } = await outcome();
    // Appends of the request that broke off may have ended a moment after it.
    expect(matched).to.be.within(60, 119);
    expect(cancelled).to.be.within(50, Number(matched));
    const { statuses } = (await one.viewer.client.get("/api/v1/events/totals")).json as { statuses: object };
    expect(statuses).to.include({ Pending: 0, Cancelled: 120 });
  });
});
