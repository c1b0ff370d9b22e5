import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, inMemoryEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

describeOnEngines("test events", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let other: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    api = await startApi(await freshEngines());
    deliveries = new Deliveries(api.world);
    other = await openAccount(api.url);
  });
  beforeEach(async () => {
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const place = () => `/api/v1/destinations/${mine.destinationId}/test`;
  const send = async (fields: object = {}) => {
    const answer = await one.developer.client.post(place(), fields);
    expect(answer.status, answer.text).to.equal(202);
    return shaped(answer, "event") as { id: string; payload: string };
  };
  const get = async (id: string) => (await one.viewer.client.get(`/api/v1/events/${id}`)).json;

  it("are accepted with a payload that says so, and listed as such", async () => {
    const event = await send();
    expect(event).to.include({
      test: true, status: "Pending", destinationUrlId: mine.destinationId, eventType: null, idempotencyKey: null,
    });
    const { timestamp, ...payload } = JSON.parse(event.payload) as Record<string, unknown>;
    expect(payload).to.deep.equal({ type: "test", data: { message: "This is a test event." } });
    expect(Date.parse(String(timestamp))).to.equal(Date.parse(String((await get(event.id))["acceptedAt"])));
    expect(await get(event.id)).to.deep.equal(event);
    const { items } = (await one.viewer.client.get("/api/v1/events")).json as { items: object[] };
    expect(items).to.deep.equal([event]);
  });

  it("carry the type and the very bytes of the payload that are given", async () => {
    expect(JSON.parse((await send({ eventType: "order.paid" })).payload)).to.include({ type: "order.paid" });
    const body = '{"eventType":"größe","payload": {"a": 1.0, "b":12345678901234567890, "a":2}}';
    const answer = await one.developer.client.call("POST", place(), { body });
    expect(answer.json).to.include({ eventType: "größe", payload: '{"a": 1.0, "b":12345678901234567890, "a":2}' });
    expect(await send({ payload: '{"text":1.50}' })).to.include({ payload: '{"text":1.50}' });
  });

  it("are refused with a bad field before anything else: 400", async () => {
    for (const [fields, problem] of [
      [{ eventType: "" }, "eventType: must not be empty"],
      [{ eventType: "a\nb" }, "eventType: must not contain control characters"],
      [{ eventType: "x".repeat(256) }, "eventType: must be at most 255 characters long"],
      [{ eventType: null }, "eventType: must be a string"],
      [{ payload: [] }, "payload: must be a JSON object"],
      [{ payload: "[]" }, "payload: must be a JSON object"],
      [{ payload: null }, "payload: must be a JSON object"],
    ] as const) {
      const answer = await one.viewer.client.post(place(), fields);
      expect([answer.status, answer.text], JSON.stringify(fields)).to.deep.equal([400, problem]);
    }
  });

  it("need Developer or above, and a destination of the tenant", async () => {
    expect((await one.viewer.client.post(place(), {})).status).to.equal(403);
    expect((await other.owner.client.post(place(), {})).status).to.equal(403);
    await one.owner.client.delete(`/api/v1/destinations/${mine.destinationId}`);
    expect((await one.developer.client.post(place(), {})).status).to.equal(404);
  });

  it("are accepted for an Inactive destination", async () => {
    await one.owner.client.patch(`/api/v1/destinations/${mine.destinationId}`, { status: "inactive" });
    await send();
  });

  it("say in their history who ordered them, and use no API key", async () => {
    const { id } = await send();
    const { items } = (await one.viewer.client.get(`/api/v1/events/${id}/history`)).json as { items: object[] };
    expect(items[0]).to.deep.nested.include({
      type: "EventAccepted", "actor.id": one.developer.id, "data.test": true,
      "data.apiKeyId": "00000000-0000-0000-0000-000000000000",
    });
    const keys = (await one.viewer.client.get("/api/v1/api-keys")).json["items"] as { lastUsedAt: unknown }[];
    expect(keys.map(({ lastUsedAt }) => lastUsedAt)).to.deep.equal([null]);
  });

  it("that failed or succeeded can be neither replayed nor resent: 400", async () => {
    const [failed, delivered] = [await send(), await send()];
    await deliveries.fail(failed.id, 10);
    await deliveries.succeed(delivered.id);
    expect(await get(failed.id)).to.include({ status: "CriticalFailure", currentRetryCount: 1 });
    for (const [id, what, done] of [
      [failed.id, "replay", "replayed"], [failed.id, "resend", "resent"], [delivered.id, "resend", "resent"],
    ] as const) {
      const answer = await one.developer.client.post(`/api/v1/events/${id}/${what}`);
      expect([answer.status, answer.text]).to.deep.equal(
        [400, `the event is a test event, which cannot be ${done}`]);
    }
  });

  it("are passed over by bulk replay and bulk cancellation, and taken by a purge", async () => {
    const [failed, pending] = [await send(), await send()];
    await deliveries.fail(failed.id, 1);
    const accepted = await http("POST", api.url + mine.path, { json: {}, headers: { "x-api-key": mine.apiKey } });
    const act = async (what: string) => (await one.admin.client.post(`/api/v1/events/${what}`, {})).json;
    expect((await act("replay"))["replayed"]).to.equal(0);
    expect((await act("cancel"))["cancelled"]).to.equal(1);
    expect(await get(String(accepted.json["eventId"]))).to.include({ status: "Cancelled" });
    expect(await get(failed.id)).to.include({ status: "CriticalFailure" });
    expect(await get(pending.id)).to.include({ status: "Pending" });
    await one.admin.client.post("/api/v1/events/purge", {});
    expect((await one.viewer.client.get(`/api/v1/events/${failed.id}`)).status).to.equal(404);
    expect(await get(pending.id)).to.include({ status: "Pending" });
  });
});

describe("test events of one destination", () => {
  it("are 10 a minute, then 429 without Retry-After, after the role is checked", async () => {
    const engines = await inMemoryEngines();
    const api = await startApi(engines);
    const one = await openAccount(api.url);
    const mine = await openIngest(one.owner.client, one.tenantId);
    const another = await openIngest(one.owner.client, one.tenantId);
    const send = ({ destinationId }: typeof mine, by = one.developer.client) =>
      by.post(`/api/v1/destinations/${destinationId}/test`, {});
    for (let sent = 0; sent < 10; sent++) expect((await send(mine)).status).to.equal(202);
    const refused = await send(mine);
    expect([refused.status, refused.text]).to.deep.equal(
      [429, "this destination was sent 10 test events within a minute; try again later"]);
    expect(refused.headers.has("retry-after")).to.equal(false);
    expect((await send(mine, one.viewer.client)).status).to.equal(403);
    expect((await send(another)).status).to.equal(202);
    engines.clock.advance(61_000);
    expect((await send(mine)).status).to.equal(202);
    expect(api.errors).to.deep.equal([]);
    await api.close();
    await engines.close();
  });
});
