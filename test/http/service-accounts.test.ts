import { expect } from "chai";
import { createService, openIngest, roleCodes, type Account, type Client } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { twoTenantStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

const path = "/api/v1/service-accounts";

describeOnEngines("service accounts", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  twoTenantStage(freshEngines, (stage) => ({ engines, api, one, other } = stage));

  const works = async (client: Client) => (await client.get("/api/v1/destinations")).status;
  const keysOf = async (id: string) =>
    shaped(await one.viewer.client.get(`${path}/${id}/keys?Qt=100`), "service-key-page");

  it("are created, shown, listed and changed", async () => {
    const created = await one.admin.client.post(path, { name: "  deployment ", role: roleCodes.developer });
    expect(created.status).to.equal(201);
    const account = shaped(created, "service-account");
    expect(account).to.include({ tenantId: one.tenantId, name: "deployment", role: "Developer", status: "Active" });
    const own = `${path}/${String(account["id"])}`;
    expect((await one.viewer.client.get(own)).json).to.deep.equal(account);
    const { items, total } = shaped(await one.viewer.client.get(`${path}?Qt=100`), "service-account-page") as
      { readonly items: readonly object[]; readonly total: number };
    expect(items).to.deep.include(account).and.have.length(total);
    const changed = await one.admin.client.patch(own, { name: "shop", role: 1, status: "Inactive" });
    expect(changed.status).to.equal(200);
    const { updatedAt, ...rest } = changed.json;
    expect({ ...account, name: "shop", role: "Admin", status: "Inactive" }).to.deep.include(rest);
    expect(String(updatedAt) >= String(account["updatedAt"])).to.equal(true);
    expect((await one.owner.client.delete(own)).status).to.equal(204);
    expect((await one.viewer.client.get(own)).status).to.equal(404);
    expect((await one.viewer.client.get(`${path}?Qt=100`)).text).not.to.include(account["id"]);
  });

  it("take a role by its number or its name, and a status in any case or by a user's number", async () => {
    const given = [[0, "Developer"], [1, "Admin"], [20, "Viewer"], ["Admin", "Admin"], ["Viewer", "Viewer"]];
    for (const [role, shown] of given) {
      const answer = await one.owner.client.post(path, { name: "machine", role });
      expect([answer.status, answer.json["role"]], String(role)).to.deep.equal([201, shown]);
    }
    const { id } = await createService(one.owner.client, "viewer");
    for (const [status, shown] of [["INACTIVE", "Inactive"], ["Active", "Active"], [1, "Inactive"], [0, "Active"]]) {
      const answer = await one.owner.client.patch(`${path}/${id}`, { status });
      expect([answer.status, answer.json["status"]], String(status)).to.deep.equal([200, shown]);
    }
  });

  it("are created with a status, in every spelling that a change takes", async () => {
    for (const status of ["inactive", "INACTIVE", 1, "Active", 0, undefined]) {
      const shown = status === 1 || /^inactive$/i.test(String(status)) ? "Inactive" : "Active";
      const created = await one.admin.client.post(path, { name: "machine", role: 20, status });
      const account = shaped(created, "service-account");
      expect([created.status, account["status"]], String(status)).to.deep.equal([201, shown]);
      const own = `${path}/${String(account["id"])}`;
      expect((await one.viewer.client.get(own)).json).to.deep.equal(account);
      const { key } = (await one.admin.client.post(`${own}/keys`, { name: "key" })).json;
      const client = one.owner.client.with(String(key));
      expect(await works(client)).to.equal(shown === "Active" ? 200 : 401);
      await one.admin.client.patch(own, { status: "active" });
      expect(await works(client)).to.equal(200);
    }
  });

  const bad: [object, string][] = [
    [{ status: "off" }, "status"],
    [{ status: null }, "status"],
    [{ status: true }, "status"],
    [{ status: 2 }, "status"],
    [{ name: undefined }, "name"],
    [{ name: " " }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ role: undefined }, "role"],
    [{ role: roleCodes.owner }, "role"],
    [{ role: "Owner" }, "role"],
    [{ role: "viewer" }, "role"],
    [{ role: 2 }, "role"],
    [{ role: null }, "role"],
    [{ role: "toString" }, "role"],
  ];
  for (const [fields, field] of bad) {
    it(`give 400 naming ${field} for ${JSON.stringify(fields)}`, async () => {
      const { id } = await createService(one.owner.client, "viewer");
      for (const { client } of [one.owner, one.viewer]) {
        const asked = [client.post(path, { name: "machine", role: 0, ...fields })];
        if (Object.values(fields)[0] !== undefined) asked.push(client.patch(`${path}/${id}`, fields));
        for (const { status, text } of await Promise.all(asked)) {
          expect([status, text.split(":")[0]], text).to.deep.equal([400, field]);
        }
      }
    });
  }

  it("have keys that are shown once, and listed without the key", async () => {
    const { id } = await createService(one.owner.client, "developer");
    const scopes = ["destinations:write", "audit:read"];
    const expiresAt = new Date(engines.clock.now() + 60_000).toISOString();
    const issued = await one.admin.client.post(`${path}/${id}/keys`, { name: " pipeline ", scopes, expiresAt });
    expect(issued.status).to.equal(201);
    const { key, ...rest } = shaped(issued, "created-service-key");
    const { tenantId } = one;
    expect(rest).to.include({ tenantId, serviceAccountId: id, name: "pipeline", prefix: "rsk_", expiresAt });
    expect(rest["scopes"]).to.deep.equal(scopes);
    expect(String(key)).to.match(/^rsk_[\w-]{43}$/).and.satisfy((text: string) => text.endsWith(String(rest["last4"])));
    const { items, total } = await keysOf(id);
    expect(total).to.equal(2);
    expect(items).to.deep.include(rest);
    expect(JSON.stringify(items)).not.to.include(String(key));
    const history = await one.viewer.client.get(`${path}/${id}/history`);
    const { items: facts } = history.json as { items: { type: string }[] };
    const types = ["ServiceAccountCreated", "ServiceKeyIssued", "ServiceKeyIssued"];
    expect(facts.map(({ type }) => type)).to.deep.equal(types);
    expect(JSON.stringify(facts)).not.to.include("keyHash");
  });

  const badKeys: [object, string][] = [
    [{ name: "" }, "name"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: null }, "scopes"],
    [{ scopes: "events:read" }, "scopes"],
    [{ scopes: ["events:read", "events:read"] }, "scopes"],
    [{ scopes: ["Events:read"] }, "scopes.0"],
    [{ scopes: ["events:read", "audit:write"] }, "scopes.1"],
    [{ scopes: ["events:*"] }, "scopes.0"],
    [{ expiresAt: "2001-01-01T00:00:00.000Z" }, "expiresAt"],
    [{ expiresAt: null }, "expiresAt"],
  ];
  for (const [fields, field] of badKeys) {
    it(`refuse a key with 400 naming ${field} for ${JSON.stringify(fields)}`, async () => {
      const { id } = await createService(one.owner.client, "viewer");
      for (const { client } of [one.owner, one.viewer, other.owner]) {
        const { status, text } = await client.post(`${path}/${id}/keys`, { name: "key", ...fields });
        expect([status, text.split(":")[0]], text).to.deep.equal([400, field]);
      }
    });
  }

  it("have a hundred keys at most", async () => {
    const { id, keyId } = await createService(one.owner.client, "viewer");
    const issue = () => one.owner.client.post(`${path}/${id}/keys`, { name: "key" });
    for (let count = 1; count < 100; count += 1) expect((await issue()).status).to.equal(201);
    expect((await issue()).status).to.equal(422);
    expect((await one.owner.client.delete(`${path}/${id}/keys/${keyId}`)).status).to.equal(204);
    expect((await issue()).status).to.equal(201);
  });

  it("call the API as their role allows, under their own name", async () => {
    const service = await createService(one.owner.client, "developer");
    const created = await service.client.post("/api/v1/destinations", { url: "https://receiver.example/hook" });
    expect(created.status).to.equal(201);
    const { id } = created.json as { id: string };
    expect((await service.client.patch(`/api/v1/tenants/${one.tenantId}`, { maxTrys: 3 })).status).to.equal(403);
    const { items } = (await one.viewer.client.get(`/api/v1/destinations/${id}/history`)).json as { items: object[] };
    const { name } = await one.viewer.client.api.getServiceAccount({ id: service.id });
    const actor = { type: "serviceAccount", id: service.id, keyId: service.keyId, name };
    expect(items[0]).to.deep.include({ type: "DestinationRegistered", actor });
    for (const filter of [`ActorId=${service.id.toUpperCase()}`, `SubjectId=${id}`]) {
      const audit = (await service.client.get(`/api/v1/audit?${filter}`)).json as { items: { actor: object }[] };
      expect(audit.items.map((item) => item.actor), filter).to.deep.equal([actor]);
    }
    const made = (await one.viewer.client.get(`/api/v1/audit?SubjectId=${service.id}`)).json as { items: object[] };
    expect(made.items[0]).to.deep.include({
      type: "ServiceKeyIssued", subject: { type: "serviceAccount", id: service.id, name },
      actor: { type: "user", id: one.owner.id, role: "Owner", name: one.owner.email },
    });
  });

  it("have another role at once", async () => {
    const { id, client } = await createService(one.owner.client, "viewer");
    const create = async () => (await client.post("/api/v1/destinations", { url: "https://receiver.example" })).status;
    expect(await create()).to.equal(403);
    await one.admin.client.patch(`${path}/${id}`, { role: roleCodes.developer });
    expect(await create()).to.equal(201);
    await one.admin.client.patch(`${path}/${id}`, { role: roleCodes.viewer });
    expect(await create()).to.equal(403);
  });

  it("stop being let in when their key or they themselves are deleted, or while they are inactive", async () => {
    const service = await createService(one.owner.client, "viewer");
    const second = (await one.owner.client.post(`${path}/${service.id}/keys`, { name: "key" })).json;
    const other = service.client.with(String(second["key"]));
    expect([await works(service.client), await works(other)]).to.deep.equal([200, 200]);
    await one.owner.client.patch(`${path}/${service.id}`, { status: "inactive" });
    expect([await works(service.client), await works(other)]).to.deep.equal([401, 401]);
    await one.owner.client.patch(`${path}/${service.id}`, { status: "active" });
    expect([await works(service.client), await works(other)]).to.deep.equal([200, 200]);
    const key = `${path}/${service.id}/keys/${service.keyId}`;
    expect((await one.owner.client.delete(key)).status).to.equal(204);
    expect((await one.owner.client.delete(key)).status).to.equal(404);
    expect([await works(service.client), await works(other)]).to.deep.equal([401, 200]);
    await one.owner.client.delete(`${path}/${service.id}`);
    expect(await works(other)).to.equal(401);
    const { items } = (await one.viewer.client.get(`${path}/${service.id}/history?TpOrd=Desc&Qt=2`)).json as
      { items: { type: string }[] };
    expect(items.map(({ type }) => type)).to.deep.equal(["ServiceAccountDeleted", "ServiceKeyRevoked"]);
  });

  it("have keys that expire", async () => {
    const { id } = await createService(one.owner.client, "viewer");
    const expiresAt = new Date(engines.clock.now() + 60_000).toISOString();
    const { key } = (await one.owner.client.post(`${path}/${id}/keys`, { name: "key", expiresAt })).json;
    const client = one.viewer.client.with(String(key));
    expect(await works(client)).to.equal(200);
    engines.clock.advance(60_000);
    expect(await works(client)).to.equal(401);
  });

  it("have keys that are rotated into one of the same name and scopes, and end after the overlap", async () => {
    const { id } = await createService(one.owner.client, "viewer");
    const scopes = ["destinations:read"];
    const { key, id: keyId } = (await one.owner.client.post(`${path}/${id}/keys`, { name: "pipeline", scopes })).json;
    const own = `${path}/${id}/keys/${String(keyId)}/rotate`;
    const answer = await one.admin.client.post(own, { overlapSeconds: 60 });
    expect(answer.status).to.equal(201);
    const { key: next, ...rest } = shaped(answer, "created-service-key");
    expect(rest).to.deep.include({ name: "pipeline", scopes, expiresAt: null });
    const { items } = await keysOf(id) as { items: { id: string; expiresAt: string | null }[] };
    expect(items).to.deep.include(rest);
    const end = new Date(Date.parse(String(rest["createdAt"])) + 60_000).toISOString();
    expect(items.find((item) => item.id === keyId)?.expiresAt).to.equal(end);
    const [old, successor] = [key, next].map((each) => one.viewer.client.with(String(each)));
    expect([await works(old!), await works(successor!)]).to.deep.equal([200, 200]);
    engines.clock.advance(60_000);
    expect([await works(old!), await works(successor!)]).to.deep.equal([401, 200]);
    expect((await one.admin.client.post(own.replace(String(keyId), id), {})).status).to.equal(404);
  });

  it("are not producers, and producers are no service accounts", async () => {
    const { path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
    const { client } = await createService(one.owner.client, "developer");
    const posted = await http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": client.token ?? "" } });
    expect(posted.status).to.equal(401);
    const asked = await one.viewer.client.with(apiKey).get("/api/v1/destinations");
    expect([asked.status, asked.headers.get("www-authenticate")]).to.deep.equal([401, "Bearer"]);
  });

  it("are let in by their key as it is only", async () => {
    const { client } = await createService(one.owner.client, "viewer");
    const key = client.token ?? "";
    const unknown = `rsk_${"A".repeat(43)}`;
    const others = [`${key}=`, key.slice(0, -1), key.replace("rsk_", "RSK_"), unknown, "rsk_", `${key} x`];
    for (const other of others) expect(await works(one.viewer.client.with(other)), other).to.equal(401);
  });
});
