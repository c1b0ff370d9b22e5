import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

type Item = Readonly<Record<string, unknown>>;

describeOnEngines("summaries of events", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let to: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    to = await openIngest(one.owner.client, one.tenantId);
    deliveries = new Deliveries(api.world);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const accept = async (body: string, key?: string) => {
    const headers = { "x-api-key": to.apiKey, "content-type": "application/json" };
    const keyed = key === undefined ? headers : { ...headers, "x-idempotency-key": key };
    return String((await http("POST", api.url + to.path, { body, headers: keyed })).json["eventId"]);
  };
  const list = async (query: string) => {
    const answer = await one.viewer.client.get(`/api/v1/events?${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "event-page")["items"] as readonly Item[];
  };
  const summaryOf = async (id: string) => (await list("View=summary&Qt=100")).find((item) => item["id"] === id);
  /** The last attempt as the list of attempts has it. */
  const lastAttemptOf = async (id: string) => {
    const { items } = await one.viewer.client.api.listAttempts({ id, Qt: 100 });
    const last = items.at(-1);
    if (!last) return { attempts: 0, lastAttempt: null };
    const { number, finishedAt, outcome, statusCode, reason, durationMs } = last;
    return { attempts: items.length, lastAttempt: { number, finishedAt, outcome, statusCode, reason, durationMs } };
  };

  it("have an event's fields without the payload, its size and its first 200 characters", async () => {
    const body = `{"text":"${"\u{1f600}".repeat(300)}ü"}`;
    const id = await accept(body, "summarised");
    const { payload, ...event } = (await list("Qt=1")).find((item) => item["id"] === id) ?? expect.fail("not listed");
    expect(payload).to.equal(body);
    const wanted = {
      ...event, payloadBytes: Buffer.byteLength(body), preview: `{"text":"${"\u{1f600}".repeat(191)}`,
      attempts: 0, lastAttempt: null,
    };
    expect(await list("View=summary&Qt=1")).to.deep.equal([wanted]);
    expect(await list("View=summary&IdempotencyKey=summarised")).to.deep.equal([wanted]);
    expect(await list("View=full&Qt=1")).to.deep.equal([{ ...event, payload }]);
  });

  it("have columns from the payload, as the whole events have", async () => {
    const body = '{"order":{"id":12345678901234567890,"to":"Zoë"},"paid":true}';
    const id = await accept(body, "columns");
    for (const view of ["full", "summary"]) {
      for (const query of ["Qt=1", "IdempotencyKey=columns"]) {
        const [item] = await list(`View=${view}&${query}&Columns=/order/id,/order/to,/none`);
        expect(item).to.deep.include({ id, columns: ["12345678901234567890", '"Zoë"', null] });
        expect((await list(`View=${view}&${query}`))[0]).not.to.have.property("columns");
      }
    }
    for (const columns of ["", "order", "/a,/b,/c,/d", "/a~2", "/a,"]) {
      const answer = await one.viewer.client.get(`/api/v1/events?Columns=${columns}`);
      expect([answer.status, answer.text.split(/[:.]/)[0]], columns).to.deep.equal([400, "Columns"]);
    }
    expect((await one.viewer.client.get("/api/v1/events/totals?Columns=/a")).status).to.equal(400);
  });

  const histories: readonly [string, (id: string) => Promise<unknown>][] = [
    ["in flight", (id) => deliveries.start(id)],
    ["that succeeded", (id) => deliveries.succeed(id)],
    ["that failed", (id) => deliveries.fail(id, 3)],
    ["that was the last", (id) => deliveries.fail(id, 1)],
    ["whose worker was lost", (id) => deliveries.start(id).then(() => deliveries.lose(id))],
    ["after a lost one that succeeded late", (id) => deliveries.succeedLate(id)],
    ["that succeeded after all", async (id) => {
      const number = await deliveries.start(id);
      await deliveries.lose(id, 1);
      await deliveries.late(id, number);
    }],
    ["in flight after others that failed", async (id) => {
      await deliveries.fail(id, 9, 0);
      await deliveries.fail(id, 9, 0);
      await deliveries.start(id);
    }],
    ["before a replay", (id) => deliveries.fail(id, 1).then(() => deliveries.replay(id))],
  ];
  for (const [what, deliver] of histories) {
    it(`show the last attempt as the list of attempts does: one ${what}`, async () => {
      const id = await accept("{}", what);
      await deliver(id);
      const wanted = await lastAttemptOf(id);
      expect(await summaryOf(id)).to.deep.include(wanted);
      expect((await list(`View=summary&IdempotencyKey=${encodeURIComponent(what)}`))[0]).to.deep.include(wanted);
    });
  }

  it("read no receiver's answer, and one entry for each event", async () => {
    const readStream = engines.store.readStream.bind(engines.store);
    const given: string[] = [];
    engines.store.readStream = async (...asked) => {
      const entries = await readStream(...asked);
      given.push(...entries.map(({ type }) => type));
      return entries;
    };
    try {
      const certain = await list("View=summary&Qt=100&Status=Succeeded,WaitingRetry");
      expect(certain.length).to.be.at.least(3);
      const others = certain.filter(({ lastAttempt }) => (lastAttempt as Item)["outcome"] === "unknown");
      expect(given.filter((type) => type === "EventAccepted").length).to.be.at.least(certain.length - others.length);
      given.length = 0;
      const failed = await list("View=summary&Qt=100&Status=CriticalFailure");
      expect(failed.length).to.be.greaterThan(0);
      expect(new Set(given)).to.deep.equal(new Set(["EventAccepted"]));
    } finally {
      engines.store.readStream = readStream;
    }
  });

  it("are walked by a cursor that a full page gave, as the filters are the same", async () => {
    const { nextCursor } = await one.viewer.client.api.listEvents({ Qt: 2 });
    const all = await list("View=summary&Qt=100");
    expect(await list(`View=summary&Qt=100&Cursor=${nextCursor}`)).to.deep.equal(all.slice(2));
  });

  it("give 400 for another view", async () => {
    for (const view of ["", "Summary", "none", "full&View=full"]) {
      const { status, text } = await one.viewer.client.get(`/api/v1/events?View=${view}`);
      expect([status, text.split(":")[0]], view).to.deep.equal([400, "View"]);
    }
  });
});
