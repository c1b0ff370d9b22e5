import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";

describeOnEngines("API keys", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

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

  it("show the time of their last use", async () => {
    const { path, apiKey, apiKeyId } = await openIngest(one.owner.client, one.tenantId);
    const { acceptedAt } = (await send(path, apiKey)).json;
    const { items } = (await one.owner.client.get("/api/v1/api-keys?Qt=100")).json as { items: { id: string }[] };
    expect(items.find(({ id }) => id === apiKeyId)).to.include({ lastUsedAt: acceptedAt });
  });
});
