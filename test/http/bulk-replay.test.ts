import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { LogUnavailable, RevisionConflict, type EventStore } from "../../src/kernel/ports/event-store.ts";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";
import { spoilReads } from "../support/spoiled.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("bulk replay", (freshEngines) => {
  let engines: SharedEngines;
  let processes: [TestApi, TestApi];
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    processes = [await startApi(engines), await startApi(engines)];
    [api] = processes;
    deliveries = new Deliveries(api.world);
  });
  beforeEach(async () => {
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => Promise.all(processes.map((process) => process.close())));
  afterEach(() => expect(processes.flatMap(({ errors }) => errors)).to.deep.equal([]));

  const accept = async (to = mine) => {
    const answer = await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey } });
    return answer.json as { eventId: string; acceptedAt: string };
  };
  const givenUp = async (to = mine) => {
    const accepted = await accept(to);
    await deliveries.fail(accepted.eventId, 1);
    // Each event has another time of acceptance.
    engines.clock.advance(1);
    return accepted;
  };
  const replay = (fields: object = {}, by = one.developer.client) => by.post("/api/v1/events/replay", fields);
  const outcome = async (fields: object = {}, by = one.developer.client) => {
    const answer = await replay(fields, by);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "bulk-replay");
  };
  const statuses = async () => {
    const { items } = (await one.viewer.client.get("/api/v1/events?Qt=100")).json as { items: { status: string }[] };
    return items.map(({ status }) => status).sort();
  };

  const recorded = async (by = one.viewer.client) => {
    const answer = await by.get(`/api/v1/tenants/${one.tenantId}/replays/history`);
    const { items } = answer.json as { items: { type: string; data: Record<string, unknown> }[] };
    return items.map(({ type, data: { matched, replayed } }) => [type, matched ?? replayed]);
  };
  /** Appends facts of bulk replays by `instead`, and all others by the store. */
  const appendingReplays = async (instead: EventStore["append"], act: () => Promise<unknown>) => {
    const { store } = engines;
    const append = store.append.bind(store);
    const stream = streams.replays(one.tenantId);
    store.append = (...asked) => (asked[0] === stream ? instead : append)(...asked);
    try {
      await act();
    } finally {
      // Deleting the override uncovers the method of the class.
      Reflect.deleteProperty(store, "append");
    }
  };

  it("replays every event that was given up, and no other", async () => {
    const failed = [await givenUp(), await givenUp(), await givenUp()];
    const waiting = await accept();
    await deliveries.fail(waiting.eventId, 5);
    await deliveries.succeed((await accept()).eventId);
    await accept();
    expect(await outcome()).to.deep.equal({ matched: 3, replayed: 3 });
    expect(await statuses()).to.deep.equal(["Pending", "Pending", "Pending", "Pending", "Succeeded", "WaitingRetry"]);
    for (const { eventId } of failed) {
      const event = (await one.viewer.client.get(`/api/v1/events/${eventId}`)).json;
      expect(event).to.include({ status: "Pending", currentRetryCount: 0 });
      const { items } = (await one.viewer.client.get(`/api/v1/events/${eventId}/history?Qt=100`)).json as {
        items: { type: string; actor: object }[];
      };
      expect(items.at(-1)).to.include({ type: "EventReplayed" });
      expect(items.at(-1)?.actor).to.include({ type: "user", id: one.developer.id, role: "Developer" });
    }
    expect(await outcome()).to.deep.equal({ matched: 0, replayed: 0 });
  });

  it("only counts in a dry run", async () => {
    await givenUp();
    await givenUp();
    expect(await outcome({ dryRun: true })).to.deep.equal({ matched: 2, replayed: 0 });
    expect(await statuses()).to.deep.equal(["CriticalFailure", "CriticalFailure"]);
    expect(await outcome({ dryRun: false })).to.deep.equal({ matched: 2, replayed: 2 });
  });

  it("takes the events of one destination, of one period, or of both", async () => {
    const other = await openIngest(one.owner.client, one.tenantId);
    const [a, b, c] = [await givenUp(), await givenUp(other), await givenUp()];
    const dry = async (fields: object) => (await outcome({ ...fields, dryRun: true }))["matched"];
    expect(await dry({ destinationUrlId: mine.destinationId })).to.equal(2);
    expect(await dry({ destinationUrlId: mine.destinationId.toUpperCase() })).to.equal(2);
    expect(await dry({ destinationUrlId: nowhere })).to.equal(0);
    expect(await dry({ from: b.acceptedAt })).to.equal(2);
    expect(await dry({ to: b.acceptedAt })).to.equal(2);
    expect(await dry({ from: b.acceptedAt, to: b.acceptedAt })).to.equal(1);
    expect(await dry({ from: c.acceptedAt, to: a.acceptedAt })).to.equal(0);
    expect(await dry({ from: b.acceptedAt, destinationUrlId: mine.destinationId })).to.equal(1);
    const found = await outcome({ to: b.acceptedAt, destinationUrlId: other.destinationId });
    expect(found).to.deep.equal({ matched: 1, replayed: 1 });
    const status = async ({ eventId }: { eventId: string }) =>
      (await one.viewer.client.get(`/api/v1/events/${eventId}`)).json["status"];
    expect([await status(a), await status(b), await status(c)]).to.deep.equal([
      "CriticalFailure",
      "Pending",
      "CriticalFailure",
    ]);
  });

  it("writes all its facts under one correlation id", async () => {
    const { eventId } = await givenUp();
    const answer = await one.developer.client.call("POST", "/api/v1/events/replay", {
      json: {}, headers: { "x-request-id": "CHG-many" },
    });
    expect(answer.status, answer.text).to.equal(200);
    for (const path of [`tenants/${one.tenantId}/replays`, `events/${eventId}`]) {
      const { items } = (await one.viewer.client.get(`/api/v1/${path}/history`)).json as {
        items: { type: string; correlationId: string }[];
      };
      const written = items.filter(({ type }) => /^(Event)?Replay/.test(type));
      expect(new Set(written.map(({ correlationId }) => correlationId)), path).to.deep.equal(new Set(["CHG-many"]));
    }
  });

  it("replays nothing if the order cannot be recorded", async () => {
    await givenUp();
    const away = () => Promise.reject(new LogUnavailable("the log is away"));
    await appendingReplays(away, async () => expect((await replay()).status).to.equal(503));
    expect(await statuses()).to.deep.equal(["CriticalFailure"]);
    expect(await recorded()).to.deep.equal([]);
  });

  it("gives 503 if its outcome cannot be recorded, although the events are replayed", async () => {
    await givenUp();
    const { store } = engines;
    const append = store.append.bind(store);
    const first: EventStore["append"] = (...asked) =>
      (asked[2][0]?.event.type === "ReplayOrdered" ? append(...asked) : Promise.reject(new LogUnavailable("away")));
    await appendingReplays(first, async () => expect((await replay()).status).to.equal(503));
    expect(await statuses()).to.deep.equal(["Pending"]);
    expect(await outcome()).to.deep.equal({ matched: 0, replayed: 0 });
    expect(await recorded()).to.deep.equal([["ReplayOrdered", 1]]);
  });

  it("also replays events that are given up while it runs", async () => {
    const [, { eventId }] = [await givenUp(), await accept()];
    const { store } = engines;
    const append = store.append.bind(store);
    const meanwhile: EventStore["append"] = async (...asked) => {
      if (asked[2][0]?.event.type === "ReplayOrdered") await deliveries.fail(eventId, 1);
      // This list waits until the read models have the failure.
      await statuses();
      return append(...asked);
    };
    await appendingReplays(meanwhile, async () => expect(await outcome()).to.deep.equal({ matched: 1, replayed: 2 }));
    expect(await recorded()).to.deep.equal([["ReplayOrdered", 1], ["ReplayCompleted", 2]]);
  });

  it("is recorded after any number of conflicts", async () => {
    await givenUp();
    const { store } = engines;
    const append = store.append.bind(store);
    let conflicts = 0;
    const late: EventStore["append"] = async (...asked) => {
      conflicts += 1;
      if (conflicts % 20 !== 0) throw new RevisionConflict(asked[0], asked[1], asked[1] + 1);
      return append(...asked);
    };
    await appendingReplays(late, async () => expect(await outcome()).to.deep.equal({ matched: 1, replayed: 1 }));
    expect(conflicts).to.equal(40);
    expect(await recorded()).to.deep.equal([["ReplayOrdered", 1], ["ReplayCompleted", 1]]);
  });

  it("works although the newest fact of an earlier bulk replay is damaged", async () => {
    await givenUp();
    await outcome();
    await givenUp();
    const mend = spoilReads(engines.store, ({ stream }) => stream === streams.replays(one.tenantId));
    try {
      const elsewhere = one.developer.client.at(processes[1].url);
      expect(await outcome({}, elsewhere)).to.deep.equal({ matched: 1, replayed: 1 });
    } finally {
      mend();
    }
    expect(await recorded()).to.deep.equal([
      ["ReplayOrdered", 1], ["ReplayCompleted", 1], ["ReplayOrdered", 1], ["ReplayCompleted", 1],
    ]);
  });

  it("leaves the events of a deleted destination unchanged", async () => {
    const doomed = await openIngest(one.owner.client, one.tenantId);
    await givenUp(doomed);
    await givenUp();
    expect((await one.owner.client.delete(`/api/v1/destinations/${doomed.destinationId}`)).status).to.equal(204);
    expect(await outcome({ dryRun: true })).to.deep.equal({ matched: 2, replayed: 0 });
    expect(await outcome()).to.deep.equal({ matched: 2, replayed: 1 });
    expect(await statuses()).to.deep.equal(["CriticalFailure", "Pending"]);
  });

  it("leaves the events of a destination with an unreadable record unchanged", async () => {
    const damaged = await openIngest(one.owner.client, one.tenantId);
    await givenUp(damaged);
    await givenUp();
    const mend = spoilReads(engines.store, ({ stream }) => stream === streams.destination(damaged.destinationId));
    const fresh = await startApi(engines);
    try {
      const elsewhere = one.developer.client.at(fresh.url);
      expect(await outcome({}, elsewhere)).to.deep.equal({ matched: 2, replayed: 1 });
    } finally {
      mend();
      await fresh.close();
    }
    expect(await statuses()).to.deep.equal(["CriticalFailure", "Pending"]);
  });

  it("leaves events with very many attempts unchanged", async () => {
    await deliveries.giveUpAfter((await accept()).eventId, 1_000);
    await givenUp();
    expect(await outcome()).to.deep.equal({ matched: 2, replayed: 1 });
    expect(await statuses()).to.deep.equal(["CriticalFailure", "Pending"]);
  });

  it("counts each event once among requests at the same time, through any process", async () => {
    for (let n = 0; n < 30; n += 1) await givenUp();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => outcome({}, one.developer.client.at(processes[n % 2]?.url ?? ""))),
    );
    expect(answers.reduce((sum, { replayed }) => sum + Number(replayed), 0)).to.equal(30);
    expect(await statuses()).to.deep.equal(Array.from({ length: 30 }, () => "Pending"));
    for (const { id } of (await one.viewer.client.get("/api/v1/events?Qt=100")).json["items"] as { id: string }[]) {
      const { items } = (await one.viewer.client.get(`/api/v1/events/${id}/history?Qt=100`)).json as {
        items: { type: string }[];
      };
      expect(items.filter(({ type }) => type === "EventReplayed")).to.have.length(1);
    }
  });

  it("takes more than one page of events, some with the same time of acceptance", async () => {
    const accepted = await Promise.all(Array.from({ length: 1_300 }, () => accept()));
    await Promise.all(accepted.map(({ eventId }) => deliveries.fail(eventId, 1)));
    expect(new Set(accepted.map(({ acceptedAt }) => acceptedAt)).size).to.be.lessThan(1_300);
    expect(await outcome()).to.deep.equal({ matched: 1_300, replayed: 1_300 });
    const failed = (await one.viewer.client.get("/api/v1/events?Status=CriticalFailure")).json;
    expect(failed["total"]).to.equal(0);
  });

  it("leaves another tenant's events unchanged", async () => {
    const other = await openAccount(api.url);
    const theirs = await openIngest(other.owner.client, other.tenantId);
    const { eventId } = await givenUp(theirs);
    expect(await outcome()).to.deep.equal({ matched: 0, replayed: 0 });
    expect(await outcome({ destinationUrlId: theirs.destinationId })).to.deep.equal({ matched: 0, replayed: 0 });
    const event = (await other.viewer.client.get(`/api/v1/events/${eventId}`)).json;
    expect(event["status"]).to.equal("CriticalFailure");
  });

  const bad: [object, string][] = [
    [{ destinationUrlId: "x" }, "destinationUrlId"],
    [{ destinationUrlId: null }, "destinationUrlId"],
    [{ from: "yesterday" }, "from"],
    [{ from: 5 }, "from"],
    [{ to: "2026-02-30" }, "to"],
    [{ dryRun: "yes" }, "dryRun"],
    [{ dryRun: 1 }, "dryRun"],
  ];
  for (const [fields, field] of bad) {
    it(`gives 400 naming ${field} for ${JSON.stringify(fields)}`, async () => {
      for (const { client } of [one.developer, one.viewer]) {
        const answer = await replay(fields, client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      }
    });
  }
});
