import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const statuses = ["Pending", "Processing", "Succeeded", "Failed", "WaitingRetry", "CriticalFailure", "Cancelled"];

type Ingest = Awaited<ReturnType<typeof openIngest>>;
type Event = { readonly id: string; readonly status: string; readonly acceptedAt: string };

describeOnEngines("purge", (freshEngines) => {
  let engines: SharedEngines;
  let processes: [TestApi, TestApi];
  let api: TestApi;
  let one: Account;
  let mine: Ingest;
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

  const send = (to: Ingest, key?: string, url = api.url) =>
    http("POST", url + to.path, {
      json: { n: 1 },
      headers: { "x-api-key": to.apiKey, ...(key !== undefined && { "x-idempotency-key": key }) },
    });
  const accept = async (to = mine, key?: string) => {
    // Each event has another time of acceptance.
    engines.clock.advance(1);
    const answer = await send(to, key);
    expect(answer.status, answer.text).to.equal(202);
    return String(answer.json["eventId"]);
  };
  /** An event in each status it may rest in; the first three are finished. */
  const oneOfEach = async (to = mine) => {
    const [succeeded, failed, cancelled, pending, retried] = [
      await accept(to), await accept(to), await accept(to), await accept(to), await accept(to),
    ] as const;
    await deliveries.succeed(succeeded);
    await deliveries.fail(failed, 1);
    await one.owner.client.post(`/api/v1/events/${cancelled}/cancel`);
    await deliveries.fail(retried, 5);
    return { succeeded, failed, cancelled, pending, retried };
  };
  const purge = (fields: object = {}, by = one.admin.client) => by.post("/api/v1/events/purge", fields);
  const purged = async (fields: object = {}) => {
    const answer = await purge(fields);
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
  };
  const list = async (query = "", by = one.viewer.client) => {
    const answer = await by.get(`/api/v1/events?Qt=100&CpOrd=id&TpOrd=Asc${query}`);
    expect(answer.status, answer.text).to.equal(200);
    const { total, items } = answer.json as unknown as { total: number; items: readonly Event[] };
    expect(items.length).to.equal(total);
    return items;
  };
  const listed = async (query = "") => (await list(query)).map(({ id }) => id);
  const purges = async () => {
    const facts = await engines.store.readStream(`purges-${one.tenantId}`);
    return facts.flatMap((fact) =>
      fact.unreadable === undefined && fact.type === "EventsPurged" ? [{ ...fact, data: { ...fact.data } }] : []);
  };

  it("takes finished events out of lists, totals and gets at once, and no others", async () => {
    const { succeeded, failed, cancelled, pending, retried } = await oneOfEach();
    await purged();
    expect(await listed()).to.have.members([pending, retried]);
    for (const status of statuses) {
      const expected = status === "Pending" ? [pending] : status === "WaitingRetry" ? [retried] : [];
      expect(await listed(`&Status=${status}`)).to.deep.equal(expected);
      expect(await listed(`&Status=${status}&DestinationUrlId=${mine.destinationId}`)).to.deep.equal(expected);
    }
    expect(await listed("&From=2020-01-01")).to.have.members([pending, retried]);
    expect((await one.viewer.client.get("/api/v1/events/totals")).json).to.deep.equal({
      total: 2, statuses: { ...Object.fromEntries(statuses.map((status) => [status, 0])), Pending: 1, WaitingRetry: 1 },
    });
    for (const id of [succeeded, failed, cancelled]) {
      for (const rest of ["", "/attempts", "/history"]) {
        expect((await one.owner.client.get(`/api/v1/events/${id}${rest}`)).status).to.equal(404);
      }
      for (const rest of ["/replay", "/cancel"]) {
        expect((await one.owner.client.post(`/api/v1/events/${id}${rest}`)).status).to.equal(404);
      }
    }
    for (const id of [pending, retried]) {
      expect((await one.owner.client.get(`/api/v1/events/${id}`)).status).to.equal(200);
    }
    expect((await one.owner.client.post("/api/v1/events/replay", {})).json).to.deep.equal({ matched: 0, replayed: 0 });
  });

  it("takes the events of one status", async () => {
    for (const status of ["Succeeded", "CriticalFailure", "Cancelled"]) {
      await oneOfEach();
      const before = await list();
      await purged({ status });
      expect(await list()).to.deep.equal(before.filter((event) => event.status !== status));
    }
  });

  it("takes the events of one destination", async () => {
    const other = await openIngest(one.owner.client, one.tenantId);
    const [gone, kept] = [await oneOfEach(), await oneOfEach(other)];
    await purged({ destinationUrlId: mine.destinationId.toUpperCase() });
    expect(await listed()).to.have.members([gone.pending, gone.retried, ...Object.values(kept)]);
    expect(await listed(`&DestinationUrlId=${mine.destinationId}`)).to.have.members([gone.pending, gone.retried]);
    await purged({ destinationUrlId: nowhere });
    expect(await listed(`&DestinationUrlId=${other.destinationId}`)).to.have.members(Object.values(kept));
  });

  it("takes the events accepted before a time, not at it", async () => {
    const ids = [await accept(), await accept(), await accept()];
    for (const id of ids) await deliveries.succeed(id);
    const middle = (await list()).find(({ id }) => id === ids[1]);
    await purged({ before: middle?.acceptedAt });
    expect(await listed()).to.have.members(ids.slice(1));
    expect((await purges())[0]?.data).to.include({ matched: 1 });
    await purged({ before: "2020-01-01" });
    expect(await listed()).to.have.members(ids.slice(1));
    await purged({ before: "2999-01-01T00:00:00+02:00", status: "Succeeded", destinationUrlId: mine.destinationId });
    expect(await listed()).to.deep.equal([]);
  });

  it("only counts in a dry run: nothing changes", async () => {
    await oneOfEach();
    const before = await list();
    for (const [fields, matched] of [
      [{}, 3], [{ status: "Succeeded" }, 1], [{ destinationUrlId: nowhere }, 0], [{ before: "2020-01-01" }, 0],
    ] as const) {
      const answer = await purge({ ...fields, dryRun: true });
      expect([answer.status, answer.json], JSON.stringify(fields)).to.deep.equal([200, { matched }]);
    }
    expect((await purge({ dryRun: true }, one.developer.client)).status).to.equal(403);
    expect(await list()).to.deep.equal(before);
    expect(await purges()).to.deep.equal([]);
    expect((await purge({ dryRun: false })).status).to.equal(204);
    expect(await list()).to.have.length(2);
  });

  it("leaves a fact with its actor, time, filter and count", async () => {
    await oneOfEach();
    const before = "2999-01-01T00:00:00.000Z";
    await purged({ before, status: "Cancelled", destinationUrlId: mine.destinationId });
    await purged();
    await purged();
    const facts = await purges();
    expect(facts.map(({ data }) => data)).to.have.length(3);
    const filter = { before, status: "Cancelled", destinationId: mine.destinationId };
    expect(facts[0]?.data).to.deep.include({ ...filter, matched: 1 });
    expect(facts[0]?.data).to.have.property("at").that.matches(/^\d{4}-.*Z$/);
    expect(facts[1]?.data).to.deep.include({ before: null, status: null, destinationId: null, matched: 2 });
    expect(facts[2]?.data).to.deep.include({ matched: 0 });
    for (const { metadata } of facts) {
      expect(metadata.actor).to.deep.equal({ type: "user", id: one.admin.id, role: "Admin" });
    }
  });

  it("counts each event once among requests at the same time, through any process", async () => {
    for (let n = 0; n < 20; n += 1) await deliveries.succeed(await accept());
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => purge({}, one.admin.client.at(processes[n % 2]?.url ?? ""))),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 204));
    const matched = (await purges()).map(({ data }) => (data as { matched: number }).matched);
    expect(matched.reduce((sum, count) => sum + count, 0), matched.join()).to.equal(20);
    expect(await listed()).to.deep.equal([]);
  });

  it("counts exactly the events that it takes, while events finish", async () => {
    const accepted = await Promise.all(Array.from({ length: 120 }, () => accept()));
    const left = [...accepted];
    const finish = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await deliveries.succeed(id);
    };
    const purgeOften = async ({ url }: TestApi) => {
      while (left.length > 0) expect((await purge({}, one.admin.client.at(url))).status).to.equal(204);
    };
    await Promise.all([finish(), finish(), finish(), ...processes.map(purgeOften)]);
    const matched = (await purges()).map(({ data }) => (data as { matched: number }).matched);
    const { total } = (await one.viewer.client.get("/api/v1/events?Qt=1")).json as { total: number };
    expect(matched.reduce((sum, count) => sum + count, 0), matched.join()).to.equal(accepted.length - total);
    expect(matched.filter((count) => count > 0)).to.have.length.greaterThan(1);
  });

  it("is visible in every process at once", async () => {
    const [, second] = processes;
    for (let round = 0; round < 5; round += 1) {
      const { succeeded, pending } = await oneOfEach();
      const there = one.viewer.client.at(second.url);
      expect((await there.get(`/api/v1/events/${succeeded}`)).status).to.equal(200);
      await purged();
      const [got, rest] = await Promise.all([there.get(`/api/v1/events/${succeeded}`), list("", there)]);
      expect(got.status).to.equal(404);
      expect(rest.map(({ id }) => id)).to.include(pending).and.not.include(succeeded);
    }
  });

  it("takes no event that finishes later", async () => {
    const id = await accept();
    await purged();
    await deliveries.succeed(id);
    expect(await listed()).to.deep.equal([id]);
    expect((await one.owner.client.get(`/api/v1/events/${id}`)).json).to.include({ status: "Succeeded" });
    await purged();
    expect(await listed()).to.deep.equal([]);
  });

  it("or a replay wins a race between the two: the event is deleted, or it is due again", async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = await accept();
      await deliveries.fail(id, 1);
      const [replay] = await Promise.all([
        one.owner.client.at(processes[round % 2]?.url ?? "").post(`/api/v1/events/${id}/replay`),
        purged(),
      ]);
      const got = await one.owner.client.get(`/api/v1/events/${id}`);
      expect([
        [200, 200],
        [404, 404],
      ]).to.deep.include([replay.status, got.status]);
      expect((await listed()).includes(id)).to.equal(replay.status === 200);
      if (replay.status === 200) await one.owner.client.post(`/api/v1/events/${id}/cancel`);
      await purged();
    }
  });

  it("takes an event although a late outcome is written after it", async () => {
    const id = await accept();
    await deliveries.fail(id, 1);
    await purged({ status: "CriticalFailure" });
    // As in a process that has not read of the purge.
    await deliveries.replay(id);
    await deliveries.succeed(id);
    expect((await one.owner.client.get(`/api/v1/events/${id}`)).status).to.equal(404);
    expect(await listed()).to.deep.equal([]);
    for (const status of statuses) expect(await listed(`&Status=${status}`)).to.deep.equal([]);
    expect((await one.owner.client.get("/api/v1/events?Pg=9")).json["total"]).to.equal(0);
  });

  describe("frees idempotency keys", () => {
    it("of its events, and no others", async () => {
      const [gone, kept] = [await accept(mine, "gone"), await accept(mine, "kept")];
      await deliveries.succeed(gone);
      expect((await send(mine, "gone")).json).to.include({ eventId: gone, status: "Succeeded" });
      await purged();
      expect(await listed("&IdempotencyKey=gone")).to.deep.equal([]);
      expect(await listed("&IdempotencyKey=kept")).to.deep.equal([kept]);
      const again = await send(mine, "gone");
      expect(again.status).to.equal(202);
      expect(await listed("&IdempotencyKey=gone")).to.deep.equal([again.json["eventId"]]);
      expect((await send(mine, "kept")).status).to.equal(200);
      const duplicate = await send(mine, "gone");
      expect([duplicate.status, duplicate.json["acceptedAt"]]).to.deep.equal([200, again.json["acceptedAt"]]);
      const id = String(again.json["eventId"]);
      expect(await listed()).to.have.members([id, kept]);
      expect((await one.owner.client.get(`/api/v1/events/${id}`)).json).to.include({ status: "Pending" });
      expect((await one.owner.client.get(`/api/v1/events/${id}/history`)).json["total"]).to.equal(1);
    });

    it("for exactly one of many concurrent requests, through any process", async () => {
      for (let round = 0; round < 3; round += 1) {
        await deliveries.succeed(await accept(mine, `race-${round}`));
        await purged();
        const crowd = await Promise.all(
          Array.from({ length: 30 }, (_, n) => send(mine, `race-${round}`, processes[n % 2]?.url)),
        );
        const answers = crowd.map(({ status }) => status);
        expect(answers.filter((status) => status === 202), answers.join()).to.have.length(1);
        expect(answers.filter((status) => status === 200), answers.join()).to.have.length(29);
        const [id] = await listed();
        await deliveries.succeed(String(id));
        expect(await listed("&Status=Succeeded")).to.deep.equal([id]);
        await purged();
      }
    });

    it("also of an event accepted under a key that an earlier purge freed", async () => {
      for (let round = 0; round < 4; round += 1) {
        const id = await accept(mine, "again and again");
        await deliveries.succeed(id);
        expect((await one.owner.client.get(`/api/v1/events/${id}`)).json).to.include({ status: "Succeeded" });
        await purged();
        expect((await one.owner.client.get(`/api/v1/events/${id}`)).status).to.equal(404);
        expect(await listed()).to.deep.equal([]);
      }
    });
  });

  it("leaves another tenant's events unchanged", async () => {
    const other = await openAccount(api.url);
    const theirs = await openIngest(other.owner.client, other.tenantId);
    const id = await accept(theirs);
    await deliveries.succeed(id);
    await purged();
    await purged({ destinationUrlId: theirs.destinationId });
    expect((await other.viewer.client.get(`/api/v1/events/${id}`)).status).to.equal(200);
    expect((await list("", other.viewer.client)).map((event) => event.id)).to.deep.equal([id]);
    expect((await one.viewer.client.get(`/api/v1/events/${id}`)).status).to.equal(403);
    expect((await other.admin.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    // Once purged by its own tenant, the event does not exist.
    expect((await one.viewer.client.get(`/api/v1/events/${id}`)).status).to.equal(404);
  });

  const bad: [object, string][] = [
    ...["Pending", "Processing", "Failed", "WaitingRetry", "succeeded", "", 5, null].map(
      (status): [object, string] => [{ status }, "status"],
    ),
    [{ before: "yesterday" }, "before"],
    [{ before: 1 }, "before"],
    [{ before: null }, "before"],
    [{ destinationUrlId: "x" }, "destinationUrlId"],
    [{ destinationUrlId: 1 }, "destinationUrlId"],
  ];
  for (const [fields, field] of bad) {
    it(`gives 400 naming ${field} for ${JSON.stringify(fields)}, and purges nothing`, async () => {
      await deliveries.succeed(await accept());
      for (const { client } of [one.admin, one.viewer]) {
        const answer = await purge(fields, client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      }
      expect(await listed()).to.have.length(1);
    });
  }

  it("gives 400 without a body, and purges nothing", async () => {
    await deliveries.succeed(await accept());
    expect((await one.admin.client.post("/api/v1/events/purge")).status).to.equal(400);
    expect(await listed()).to.have.length(1);
  });
});
