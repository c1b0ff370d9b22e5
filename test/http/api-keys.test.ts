import { expect } from "chai";
import { openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

describeOnEngines("API keys", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ engines, api, one } = stage));

  const issue = (fields: object = {}, by = one.developer.client) =>
    by.post("/api/v1/api-keys", { name: "producer", ...fields });
  const send = (ingest: string, apiKey: string) =>
    http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey } });

  it("are issued with 201, the only answer that shows them whole", async () => {
    const answer = await issue({ name: "  mine " });
    expect(answer.status).to.equal(201);
    const { apiKey, ...rest } = shaped(answer, "created-api-key");
    expect(rest).to.include({ tenantId: one.tenantId, name: "mine", expiresAt: null, lastUsedAt: null });
    expect(String(apiKey).endsWith(String(rest["last4"]))).to.equal(true);
    const list = await one.viewer.client.get("/api/v1/api-keys?Qt=100");
    expect(shaped(list, "api-key-page")["items"]).to.deep.include(rest);
    expect(list.text).not.to.include(String(apiKey));
  });

  it("expire", async () => {
    const at = new Date(api.world.clock.now() + 60_000).toISOString();
    const { path } = await openIngest(one.owner.client, one.tenantId);
    const answer = await issue({ expiresAt: at });
    expect(answer.json["expiresAt"]).to.equal(at);
    const apiKey = String(answer.json["apiKey"]);
    expect((await send(path, apiKey)).status).to.equal(202);
    engines.clock.advance(60_001);
    expect((await send(path, apiKey)).status).to.equal(401);
  });

  it("expire at a time with an offset, or at a time without one or a date alone, both read as UTC", async () => {
    const table = [
      ["2999-01-01T01:30:00+01:30", "2999-01-01T00:00:00.000Z"], ["2999-01-01T01:30:00", "2999-01-01T01:30:00.000Z"],
      ["2999-12-31", "2999-12-31T00:00:00.000Z"],
    ];
    for (const [expiresAt, at] of table) expect((await issue({ expiresAt })).json["expiresAt"], expiresAt).to.equal(at);
  });

  const bad: [object, string][] = [
    [{ name: undefined }, "name"],
    [{ name: "" }, "name"],
    [{ name: " " }, "name"],
    [{ name: 5 }, "name"],
    [{ name: "x".repeat(256) }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ expiresAt: "2001-01-01T00:00:00.000Z" }, "expiresAt"],
    [{ expiresAt: "soon" }, "expiresAt"],
    [{ expiresAt: "" }, "expiresAt"],
    [{ expiresAt: 4102444800000 }, "expiresAt"],
    [{ expiresAt: "2999-02-30T00:00:00Z" }, "expiresAt"],
    [{ expiresAt: "2999-13-01" }, "expiresAt"],
    [{ expiresAt: "2999-01-01T24:00:00Z" }, "expiresAt"],
    [{ expiresAt: "2999-01-01T00:00:00+99:00" }, "expiresAt"],
  ];
  for (const [fields, field] of bad) {
    it(`give 400 naming ${field} for ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      for (const { client } of [one.developer, one.viewer]) {
        const answer = await issue(fields, client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      }
    });
  }

  it("stop working at once when they are deleted", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    expect((await send(path, apiKey)).status).to.equal(202);
    const answer = await one.developer.client.delete(`/api/v1/api-keys/${apiKeyId}`);
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    expect((await send(path, apiKey)).status).to.equal(401);
    expect((await one.developer.client.delete(`/api/v1/api-keys/${apiKeyId}`)).status).to.equal(404);
    expect((await one.owner.client.get("/api/v1/api-keys?Qt=100")).text).not.to.include(apiKeyId);
  });

  const rotate = (id: string, json: object) => one.developer.client.post(`/api/v1/api-keys/${id}/rotate`, json);

  it("are rotated under a posting producer without a refused post, and end after the overlap", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    let inUse = apiKey;
    const statuses: number[] = [];
    const producer = async (posts: number) => {
      for (let n = 0; n < posts; n += 1) statuses.push((await send(path, inUse)).status);
    };
    const posting = producer(20);
    const answer = await rotate(apiKeyId, { overlapSeconds: 60 });
    expect(answer.status).to.equal(201);
    const { apiKey: next, ...rest } = shaped(answer, "created-api-key");
    expect(rest).to.include({ name: "producer", expiresAt: null }).and.not.to.include({ id: apiKeyId });
    await posting;
    engines.clock.advance(59_000);
    await producer(2);
    inUse = String(next);
    await producer(2);
    expect(new Set(statuses)).to.deep.equal(new Set([202]));
    engines.clock.advance(1_001);
    expect((await send(path, apiKey)).status).to.equal(401);
    expect((await send(path, inUse)).status).to.equal(202);
    const list = await one.owner.client.get("/api/v1/api-keys?Qt=100");
    const { items } = list.json as { items: Record<string, string>[] };
    const [old, successor] = [apiKeyId, rest["id"]].map((id) => items.find((item) => item["id"] === id));
    expect(Date.parse(old?.["expiresAt"] ?? "") - Date.parse(successor?.["createdAt"] ?? "")).to.equal(60_000);
    const history = await one.viewer.client.get(`/api/v1/api-keys/${apiKeyId}/history?Type=ApiKeyRotated`);
    const { items: [fact] } = history.json as { items: { data: object }[] };
    expect(fact?.data).to.include({ successorId: rest["id"], expiresAt: old?.["expiresAt"] });
  });

  it("end at their time in a process that started within the overlap", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    await rotate(apiKeyId, { overlapSeconds: 60 });
    const restarted = await startApi(engines);
    const sent = async () =>
      (await http("POST", restarted.url + path, { json: {}, headers: { "x-api-key": apiKey } })).status;
    expect(await sent()).to.equal(202);
    engines.clock.advance(60_001);
    expect(await sent()).to.equal(401);
    expect(restarted.errors).to.deep.equal([]);
    await restarted.close();
  });

  it("end at once when they are rotated without an overlap", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    expect((await send(path, apiKey)).status).to.equal(202);
    const next = String((await rotate(apiKeyId, {})).json["apiKey"]);
    expect([(await send(path, apiKey)).status, (await send(path, next)).status]).to.deep.equal([401, 202]);
  });

  it("are rotated into one that lives as long as they were issued for", async () => {
    const expiresAt = new Date(engines.clock.now() + 100_000).toISOString();
    const { id } = (await issue({ expiresAt })).json as { id: string };
    engines.clock.advance(50_000);
    await rotate(id, { overlapSeconds: 10 });
    const { createdAt, expiresAt: end } = (await rotate(id, { overlapSeconds: 10 })).json;
    const lifetime = Date.parse(String(end)) - Date.parse(String(createdAt));
    expect(lifetime).to.be.within(99_000, 100_000);
  });

  it("are rotated by two at once into two, and end at the earlier end", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    const answers = await Promise.all([600, 60].map((overlapSeconds) => rotate(apiKeyId, { overlapSeconds })));
    const keys = answers.map(({ json }) => String(json["apiKey"]));
    for (const key of [apiKey, ...keys]) expect((await send(path, key)).status).to.equal(202);
    engines.clock.advance(61_000);
    expect((await send(path, apiKey)).status).to.equal(401);
    for (const key of keys) expect((await send(path, key)).status).to.equal(202);
  });

  for (const [overlap, field] of [
    [{ overlapSeconds: -1 }, "overlapSeconds"], [{ overlapSeconds: 604_801 }, "overlapSeconds"],
    [{ overlapSeconds: 1.5 }, "overlapSeconds"], [{ overlapSeconds: null }, "overlapSeconds"],
    [{ overlap: 60 }, "overlap"],
  ] as const) {
    it(`are not rotated, with 400 naming ${field}, for ${JSON.stringify(overlap)}`, async () => {
      const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
      const { status, text } = await rotate(apiKeyId, overlap);
      expect([status, text.split(":")[0]], text).to.deep.equal([400, field]);
      expect((await send(path, apiKey)).status).to.equal(202);
    });
  }

  it("show the time of their last use", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    const { acceptedAt } = (await send(path, apiKey)).json;
    const { items } = (await one.owner.client.get("/api/v1/api-keys?Qt=100")).json as { items: { id: string }[] };
    expect(items.find(({ id }) => id === apiKeyId)).to.include({ lastUsedAt: acceptedAt });
  });
});
