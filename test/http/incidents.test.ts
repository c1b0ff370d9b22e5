import { expect } from "chai";
import type { components } from "../../schemas/api.ts";
import { openAccount, openIngest, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

type Incident = components["schemas"]["Incident"];
type Ingest = Awaited<ReturnType<typeof openIngest>>;

describeOnEngines("incidents", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let ingest: Ingest;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines, { accessTokenTtlMs: 30 * 86_400_000 });
    deliveries = new Deliveries(api.world);
  });
  beforeEach(async () => {
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const post = async ({ path, apiKey }: Ingest = ingest) => {
    const answer = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    return String(answer.json["eventId"]);
  };
  /** An event whose attempts fail so often; at the last one it is given up. */
  const failing = async (times: number, to = ingest) => {
    const id = await post(to);
    for (let attempt = 1; attempt <= times; attempt += 1) {
      engines.clock.advance(1_000);
      await deliveries.fail(id, times, 1_000);
    }
    return id;
  };
  const page = async (query = "", by: Client = one.viewer.client) => {
    const answer = await by.get(`/api/v1/incidents${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "incident-page") as unknown as {
      readonly total: number; readonly items: readonly Incident[]; readonly nextCursor: string | null;
    };
  };
  const get = async (id: string) => {
    const answer = await one.viewer.client.get(`/api/v1/incidents/${id}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "incident") as unknown as Incident;
  };
  const only = async (query = "") => {
    const { total, items } = await page(query);
    expect(total, JSON.stringify(items)).to.equal(1);
    return items[0]!;
  };
  const circuit = () => ({ destinationId: ingest.destinationId, tenantId: one.tenantId });

  it("begin with the first of three failed attempts in a row, and end with the next success", async () => {
    const given = await failing(2);
    expect((await page()).items).to.deep.equal([]);
    const eventId = await failing(1);
    const open = await only("?State=open");
    expect(await get(open.id)).to.deep.equal(open);
    expect(open).to.deep.include({
      destinationUrlId: ingest.destinationId, state: "open", endedAt: null, attempts: 3, refused: 0,
      events: { affected: 2, waiting: 0, exhausted: 2, delivered: 0, cancelled: 0 },
      failures: [{ reason: "status", statusCode: 500, count: 3, error: "answered 500", eventId }],
      circuit: { opened: 0, probes: 0 }, endedBy: null,
    });
    const { items: [first] } = await one.viewer.client.api.listAttempts({ id: given });
    expect(open.startedAt).to.equal(first!.finishedAt);
    engines.clock.advance(60_000);
    const good = await post();
    await deliveries.succeed(good);
    const over = await only("?State=over");
    expect(over).to.deep.equal({ ...open, state: "over", endedAt: over.endedAt });
    expect(over.endedAt).to.equal((await one.viewer.client.api.getEvent({ id: good })).deliveredAt);
    expect((await page("?State=open")).total).to.equal(0);
  });

  it("count each affected event where it stands now, also once they are over", async () => {
    const ids = [await failing(3), await failing(1), await failing(1)];
    await deliveries.succeed(await post());
    await Promise.all(ids.slice(0, 2).map((id) => one.owner.client.api.replayEvent({ id })));
    const { id } = await only();
    expect((await get(id)).events).to.deep.equal({ affected: 3, waiting: 2, exhausted: 1, delivered: 0, cancelled: 0 });
    await deliveries.succeed(ids[0]!);
    await one.owner.client.api.cancelEvent({ id: ids[1]! });
    expect((await get(id)).events).to.deep.equal({ affected: 3, waiting: 0, exhausted: 1, delivered: 1, cancelled: 1 });
  });

  it("count refused posts, how often the circuit opened, and its probes", async () => {
    const eventId = await failing(1);
    await tellCircuit(api.world, circuit(), attemptEnded(eventId, false));
    const answer = await http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": ingest.apiKey } });
    expect(answer.status).to.equal(422);
    engines.clock.advance(300_000);
    const leaseUntil = new Date(engines.clock.now() + 60_000).toISOString();
    await tellCircuit(
      api.world, circuit(), { type: "ClaimProbe", eventId, leaseUntil, lost: null }, attemptEnded(eventId, false));
    expect(await only()).to.deep.include({
      state: "open", attempts: 1, refused: 1, circuit: { opened: 2, probes: 1 },
    });
  });

  it("name the changes in the day before, the newest first, at most five", async () => {
    const client = one.owner.client.api;
    const sender = await client.createSender({ name: "Shop", destinationUrlId: ingest.destinationId });
    const elsewhere = await client.createDestination({ url: "https://receiver.example/elsewhere" });
    engines.clock.advance(2 * 86_400_000);
    await client.updateDestination({ id: ingest.destinationId }, { url: "https://receiver.example/v1" });
    engines.clock.advance(60_000);
    await client.updateTenant({ id: one.tenantId }, { maxTrys: 7 });
    await client.updateDestination({ id: elsewhere.id }, { url: "https://receiver.example/other" });
    engines.clock.advance(60_000);
    await client.updateSender({ id: sender.id }, { name: "Store" });
    engines.clock.advance(39_000);
    await failing(3);
    const { suspects, startedAt } = await only();
    expect(suspects.map(({ entry: { type, subject, actor }, secondsBefore, changes }) =>
      [type, subject.id, actor.id, secondsBefore, changes])).to.deep.equal([
      ["SenderRenamed", sender.id, one.owner.id, 40, [{ field: "name", from: "Shop", to: "Store" }]],
      ["TenantDeliveryPolicyChanged", one.tenantId, one.owner.id, 100, [{ field: "maxTrys", from: 10, to: 7 }]],
      ["DestinationUrlChanged", ingest.destinationId, one.owner.id, 160,
        [{ field: "url", from: "https://receiver.example/hook", to: "https://receiver.example/v1" }]],
    ]);
    expect(Date.parse(startedAt) - Date.parse(suspects[0]!.entry.time)).to.be.within(40_000, 40_999);
    for (let n = 0; n < 6; n += 1) await client.updateSender({ id: sender.id }, { name: `Store ${n}` });
    await deliveries.succeed(await post());
    await failing(3);
    expect((await page()).items[0]!.suspects.map(({ changes }) => changes![0]!.to))
      .to.deep.equal(["Store 5", "Store 4", "Store 3", "Store 2", "Store 1"]);
  });

  it("end with the deletion of the destination", async () => {
    await failing(3);
    await one.owner.client.api.deleteDestination({ id: ingest.destinationId });
    const { state, endedBy } = await only();
    expect(state).to.equal("over");
    expect(endedBy).to.deep.include({
      type: "DestinationDeleted", subject: { type: "destination", id: ingest.destinationId, name: null },
    });
    expect(endedBy!.actor).to.deep.include({ type: "user", id: one.owner.id });
  });

  it("are listed by destination, state and begin, the newest first, page by page", async () => {
    const second = await openIngest(one.owner.client, one.tenantId);
    for (let n = 0; n < 3; n += 1) {
      await failing(3);
      await deliveries.succeed(await post());
    }
    await failing(3, second);
    const { items, total } = await page();
    expect(total).to.equal(4);
    const begins = items.map(({ startedAt }) => startedAt);
    expect(begins).to.deep.equal(begins.toSorted().toReversed());
    const ids = items.map(({ id }) => id);
    const walked: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const part = await page(`?Qt=1&Total=false${cursor === undefined ? "" : `&Cursor=${cursor}`}`);
      walked.push(...part.items.map(({ id }) => id));
      cursor = part.nextCursor;
    }
    expect(walked).to.deep.equal(ids);
    const listed = async (query: string) => {
      const found = await page(query);
      expect(found.total).to.equal(found.items.length);
      return found.items.map(({ id }) => id);
    };
    expect(await listed(`?DestinationUrlId=${second.destinationId}`)).to.deep.equal(ids.slice(0, 1));
    expect(await listed("?State=over")).to.deep.equal(ids.slice(1));
    expect(await listed(`?DestinationUrlId=${ingest.destinationId}&State=open`)).to.deep.equal([]);
    expect(await listed(`?From=${begins[2]}&To=${begins[1]}`)).to.deep.equal(ids.slice(1, 3));
    for (const [query, field] of [["State=begun", "State"], ["From=soon", "From"], ["CpOrd=id", "CpOrd"]] as const) {
      const { status, text } = await one.viewer.client.get(`/api/v1/incidents?${query}`);
      expect([status, text.split(":")[0]], query).to.deep.equal([400, field]);
    }
  });

  it("are the tenant's own, and named by their ids", async () => {
    await failing(3);
    const { id } = await only();
    expect((await page("", other.viewer.client)).items).to.deep.equal([]);
    expect((await page(`?DestinationUrlId=${ingest.destinationId}`, other.viewer.client)).total).to.equal(0);
    expect((await other.viewer.client.get(`/api/v1/incidents/${id}`)).status).to.equal(403);
    await failing(1, await openIngest(one.owner.client, one.tenantId));
    for (const unknown of ["00000000-0000-7000-8000-000000000000", "none"]) {
      expect((await one.viewer.client.get(`/api/v1/incidents/${unknown}`)).status).to.equal(404);
    }
  });
});
