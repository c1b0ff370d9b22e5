import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const hourMs = 3_600_000;
const zero = {
  accepted: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, failures: {}, latencyMs: null,
  firstAttemptMs: null,
};

interface Point {
  readonly at: string;
  readonly attempts: number;
  readonly accepted: number;
  readonly latencyMs: { readonly p50: number; readonly max: number } | null;
}
interface View {
  readonly from: string;
  readonly to: string;
  readonly bucket: string;
  readonly series: readonly {
    readonly destinationUrlId: string | null; readonly points: readonly Point[]; readonly total: Point;
  }[];
}

describeOnEngines("statistics of events", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let second: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
  });
  beforeEach(async () => {
    // Acts of a test without a pause are in one hour.
    engines.clock.advance(hourMs - engines.clock.now() % hourMs);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    mine = await openIngest(one.owner.client, one.tenantId);
    second = await openIngest(one.owner.client, one.tenantId);
    deliveries = new Deliveries(api.world);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const post = async (to = mine, headers: Record<string, string> = {}) => {
    const answer = await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey, ...headers } });
    expect(answer.status, answer.text).to.equal(202);
    return String(answer.json["eventId"]);
  };
  const ask = (query: string, { viewer: { client } } = one) => client.get(`/api/v1/statistics${query}`);
  const get = async (query = "", account = one) => {
    const answer = await ask(query, account);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "statistics") as unknown as View;
  };
  /** The last point of each series. */
  const last = async (query = "", account = one) =>
    Object.fromEntries((await get(query, account)).series.map(({ destinationUrlId, points }) => {
      const { at: _, ...counts } = points.at(-1)!;
      return [String(destinationUrlId), counts];
    }));

  it("count at once: accepted, delivered, given up and cancelled events, and attempts", async () => {
    await deliveries.succeed(await post());
    const failed = await post();
    await deliveries.fail(failed, 2, 0);
    await deliveries.fail(failed, 1, 0);
    const lost = await post(second);
    await deliveries.start(lost);
    await deliveries.lose(lost);
    await one.developer.client.post(`/api/v1/events/${await post(second)}/cancel`);
    const counts = await last();
    expect(counts["null"]).to.deep.include({
      accepted: 4, succeeded: 1, exhausted: 1, cancelled: 1, attempts: 4, failures: { "outcome unknown": 1, status: 2 },
    });
    expect(Object.keys(counts)).to.deep.equal(["null"]);
    const byDestination = await last("?GroupBy=destination");
    expect(Object.keys(byDestination)).to.have.members([mine.destinationId, second.destinationId]);
    expect(byDestination[mine.destinationId]).to.deep.include({ accepted: 2, attempts: 3, failures: { status: 2 } });
    const { latencyMs } = byDestination[mine.destinationId] ?? expect.fail();
    expect(latencyMs?.max).to.equal(34);
    expect(latencyMs?.p50).to.be.within(34 * 0.87, 34);
    expect(byDestination[second.destinationId]).to.deep.equal({
      ...zero, accepted: 2, cancelled: 1, attempts: 1, failures: { "outcome unknown": 1 },
    });
    const alone = await last(`?DestinationUrlId=${second.destinationId.toUpperCase()}`);
    expect(alone).to.deep.equal({ [second.destinationId]: byDestination[second.destinationId] });
    expect(await last("", other)).to.deep.equal({ null: zero });
    expect(await last(`?DestinationUrlId=${mine.destinationId}`, other)).to.deep.equal({ [mine.destinationId]: zero });
  });

  it("count under an event's type, too", async () => {
    await post(mine, { "x-event-type": "invoice.paid" });
    await post(second, { "x-event-type": "invoice.paid" });
    await post(mine, { "x-event-type": "invoice" });
    await post(mine);
    const accepted = async (query: string) => (await last(query))["null"]?.accepted;
    expect(await accepted("?EventType=invoice.paid")).to.equal(2);
    expect(await accepted("?EventType=invoice")).to.equal(1);
    expect(await accepted("?EventType=none")).to.equal(0);
    expect(await accepted("")).to.equal(4);
    const typed = await last("?EventType=invoice.paid&GroupBy=destination");
    expect(Object.values(typed).map((counts) => counts.accepted)).to.deep.equal([1, 1]);
  });

  it("have every bucket from the one of From to the one before To, in each size", async () => {
    const now = engines.clock.now();
    await post();
    const iso = (ms: number) => new Date(ms).toISOString();
    for (const [bucket, ms] of [["1m", 60_000], ["5m", 300_000], ["1h", hourMs], ["1d", 24 * hourMs]] as const) {
      const first = Math.floor(now / ms) * ms;
      const { series: [{ points } = { points: [] }], ...bounds } =
        await get(`?Bucket=${bucket}&From=${iso(first - 3 * ms + 1)}&To=${iso(first + 1)}`);
      expect(bounds).to.deep.equal({ bucket, from: iso(first - 3 * ms), to: iso(first + ms) });
      expect(points.map(({ at, accepted }) => [at, accepted])).to.deep.equal(
        [3, 2, 1, 0].map((back) => [iso(first - back * ms), back === 0 ? 1 : 0]),
      );
      const before = await get(`?Bucket=${bucket}&From=${iso(first - ms)}&To=${iso(first)}`);
      expect(before.series[0]?.points).to.deep.equal([{ at: iso(first - ms), ...zero }]);
    }
    const usual = await get();
    expect(usual.bucket).to.equal("1h");
    expect(usual.series[0]?.points).to.have.length(25);
  });

  it("have a total of each series, with percentiles of all attempts", async () => {
    await deliveries.succeed(await post());
    engines.clock.advance(120_000);
    await deliveries.fail(await post(second), 1, 0);
    await deliveries.succeed(await post());
    const { from: at, series } = await get("?GroupBy=destination&Bucket=1m");
    const totalOf = (id: string) => series.find(({ destinationUrlId }) => destinationUrlId === id)?.total;
    expect(totalOf(mine.destinationId)).to.deep.include({ at, accepted: 2, succeeded: 2, attempts: 2, failures: {} });
    expect(totalOf(second.destinationId)).to.deep.include({ accepted: 1, exhausted: 1, failures: { status: 1 } });
    const [all] = (await get("?Bucket=1m")).series;
    expect(all?.total).to.deep.include({ accepted: 3, succeeded: 2, exhausted: 1, attempts: 3 });
    const most = Math.max(...all?.points.map(({ latencyMs }) => latencyMs?.max ?? 0) ?? []);
    expect(all?.total.latencyMs?.max).to.equal(most);
  });

  it("have at most 1,500 points", async () => {
    expect((await get("?Bucket=1m&From=2026-01-01&To=2026-01-02T01:00")).series[0]?.points).to.have.length(1_500);
    for (const query of [
      "Bucket=1m&From=2026-01-01&To=2026-01-02T01:00:00.001Z", "Bucket=5m&From=2026-01-01&To=2026-01-08",
      "Bucket=1h&From=0001-01-01", "Bucket=1d&From=2020-01-01&To=2026-01-01",
    ]) {
      const answer = await ask(`?${query}`);
      expect([answer.status, answer.text.split(":")[0]], query).to.deep.equal([400, "Bucket"]);
    }
  });

  it("are refused with parameters that are not valid", async () => {
    for (const [query, field] of [
      ["Bucket=2m", "Bucket"], ["From=x", "From"], ["To=x", "To"], ["GroupBy=type", "GroupBy"],
      ["DestinationUrlId=1", "DestinationUrlId"], ["EventType=", "EventType"],
      ["From=2026-01-02&To=2026-01-01", "To"], ["From=2026-01-02&To=2026-01-02", "To"],
    ]) {
      const answer = await ask(`?${query}`);
      expect([answer.status, answer.text.split(":")[0]], query).to.deep.equal([400, field]);
    }
  });

  it("stay when their events are purged, and their destination is deleted", async () => {
    await deliveries.succeed(await post());
    const before = await last("?GroupBy=destination");
    expect(before[mine.destinationId]).to.include({ accepted: 1, succeeded: 1 });
    await one.owner.client.post("/api/v1/events/purge", {});
    await one.owner.client.delete(`/api/v1/destinations/${mine.destinationId}`);
    expect((await one.owner.client.get("/api/v1/events")).json["total"]).to.equal(0);
    expect(await last("?GroupBy=destination")).to.deep.equal(before);
  });
});
