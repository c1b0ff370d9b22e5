import { randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  createService, createUser, freshEmail, login, openAccount, openIngest, type Account,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { http } from "../support/http.ts";

const url = "https://receiver.example/hook";

describeOnEngines("two processes", (freshEngines) => {
  let here: TestApi;
  let there: TestApi;
  let one: Account;
  before(async () => {
    const engines = await freshEngines();
    [here, there] = [await startApi(engines), await startApi(engines)];
    one = await openAccount(here.url);
  });
  after(() => Promise.all([here.close(), there.close()]));
  afterEach(() => expect([...here.errors, ...there.errors]).to.deep.equal([]));

  it("show each other's writes at once", async () => {
    const { owner, tenantId } = await openAccount(here.url);
    const [a, b] = [owner.client, owner.client.at(there.url)];
    for (let round = 0; round < 20; round += 1) {
      await a.patch(`/api/v1/tenants/${tenantId}`, { maxTrys: round + 1 });
      expect((await b.get(`/api/v1/tenants/${tenantId}`)).json["maxTrys"]).to.equal(round + 1);
      const { id } = (await b.post("/api/v1/destinations", { url: "https://receiver.example" })).json as { id: string };
      expect((await a.get(`/api/v1/destinations/${id}`)).status).to.equal(200);
      await a.patch(`/api/v1/destinations/${id}`, { serverRateLimit: 7 });
      expect((await b.get(`/api/v1/destinations/${id}`)).json["serverRateLimit"]).to.equal(7);
      const { total } = (await a.get("/api/v1/destinations")).json;
      expect(total).to.equal(round + 1);
      await b.delete(`/api/v1/users/${(await createUser(a, "viewer")).id}`);
      expect((await a.get("/api/v1/users")).json["total"]).to.equal(4);
    }
  });

  it("end each other's sessions at once", async () => {
    const endings: ((id: string, token: Awaited<ReturnType<typeof login>>) => Promise<unknown>)[] = [
      (id) => one.owner.client.patch(`/api/v1/users/${id}`, { role: 20 }),
      (id) => one.owner.client.patch(`/api/v1/users/${id}`, { status: 1 }),
      (id) => one.owner.client.delete(`/api/v1/users/${id}`),
      (_id, client) => client.post("/api/v1/auth/logout"),
      (id, client) => client.patch(`/api/v1/users/${id}`, { password: "another password" }),
    ];
    for (const end of endings) {
      const person = await createUser(one.owner.client, "developer");
      expect((await person.client.at(there.url).get("/api/v1/users")).status).to.equal(200);
      await end(person.id, person.client);
      expect((await person.client.at(there.url).get("/api/v1/users")).status).to.equal(401);
    }
  });

  it("end each other's service keys at once", async () => {
    const { client } = one.owner;
    const endings: ((place: string, keyId: string) => Promise<unknown>)[] = [
      (place, keyId) => client.delete(`${place}/keys/${keyId}`),
      (place) => client.delete(place),
      (place) => client.patch(place, { status: "inactive" }),
    ];
    for (const end of endings) {
      const { id, keyId, client: machine } = await createService(client, "viewer");
      expect((await machine.at(there.url).get("/api/v1/destinations")).status).to.equal(200);
      await end(`/api/v1/service-accounts/${id}`, keyId);
      expect((await machine.at(there.url).get("/api/v1/destinations")).status).to.equal(401);
    }
  });

  it("take each other's fresh tokens, API keys and ingest tokens", async () => {
    const person = await createUser(one.owner.client.at(there.url), "developer");
    expect((await (await login(there.url, person.email)).at(here.url).get("/api/v1/users")).status).to.equal(200);
    const { path, apiKey } = await openIngest(one.owner.client, one.tenantId);
    expect((await http("POST", there.url + path, { json: {}, headers: { "x-api-key": apiKey } })).status).to.equal(202);
  });

  it("keep one tenant's last Owner and one email between them", async () => {
    const email = freshEmail();
    const person = await createUser(one.owner.client, "developer");
    expect((await person.client.patch(`/api/v1/users/${person.id}`, { email })).status).to.equal(200);
    expect(
      (await one.owner.client.at(there.url).post("/api/v1/users", { email, password: "another password" })).status,
    ).to.equal(409);
    expect((await one.owner.client.at(there.url).delete(`/api/v1/users/${one.owner.id}`)).status).to.equal(422);
  });
});

describe("a process that learns late of the writes of others", () => {
  let engines: InMemoryEngines;
  let here: TestApi;
  let late: TestApi;
  let one: Account;
  before(async () => {
    engines = await inMemoryEngines();
    [here, late] = [await startApi(engines), await startApi(engines, { followsLog: false })];
    one = await openAccount(here.url);
  });
  after(async () => {
    await Promise.all([here.close(), late.close()]);
    await engines.close();
  });

  it("still shows the newest state", async () => {
    const [a, b] = [one.owner.client, one.owner.client.at(late.url)];
    for (let round = 1; round < 4; round += 1) {
      await a.patch(`/api/v1/tenants/${one.tenantId}`, { maxTrys: round });
      expect((await b.get(`/api/v1/tenants/${one.tenantId}`)).json["maxTrys"]).to.equal(round);
    }
    const { id } = await createUser(a, "viewer");
    expect((await b.get(`/api/v1/users/${id}`)).status).to.equal(200);
    expect((await b.patch(`/api/v1/users/${id}`, { role: 0 })).json["role"]).to.equal("Developer");
  });

  it("takes a token that another process replaced, of destinations and senders that it has in memory", async () => {
    const { client } = one.owner;
    const { path, apiKey, ingestToken, destinationId } = await openIngest(client, one.tenantId);
    const send = async (token: unknown) => {
      const options = { json: {}, headers: { "x-api-key": apiKey } };
      return (await http("POST", late.url + path.replace(ingestToken, String(token)), options)).status;
    };
    const sender = (await client.post("/api/v1/senders", { name: "Shop", destinationUrlId: destinationId })).json;
    expect(await send(ingestToken)).to.equal(202);
    expect(await send(sender["ingestToken"])).to.equal(202);
    for (const owner of [`destinations/${destinationId}`, `senders/${String(sender["id"])}`]) {
      const { ingestToken: anew } = (await client.post(`/api/v1/${owner}/ingest-token`)).json;
      expect([await send(anew), await send(anew)], owner).to.deep.equal([202, 202]);
    }
    expect([await send(ingestToken), await send(sender["ingestToken"])]).to.deep.equal([404, 404]);
  });

  it("applies its own changes at once", async () => {
    const client = one.owner.client.at(late.url);
    const { path, apiKey, apiKeyId, destinationId } = await openIngest(client, one.tenantId);
    const send = async () => (await client.call("POST", path, { json: {}, headers: { "x-api-key": apiKey } })).status;
    expect(await send()).to.equal(202);
    await client.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
    expect(await send()).to.equal(422);
    await client.delete(`/api/v1/api-keys/${apiKeyId}`);
    expect(await send()).to.equal(401);
  });

  it("closes a circuit that another process opened, although it still knows the circuit as closed", async () => {
    const client = one.owner.client.at(late.url);
    const { tenantId } = one;
    const { destinationId } = await openIngest(client, tenantId);
    const activate = () => client.patch(`/api/v1/destinations/${destinationId}`, { status: "active" });
    expect((await activate()).json["status"]).to.equal("Active");
    await tellCircuit(here.world, { destinationId, tenantId }, attemptEnded(randomUUID(), false));
    const shown = await one.owner.client.get(`/api/v1/destinations/${destinationId}`);
    expect(shown.json["status"]).to.equal("Suspended");
    expect((await activate()).json["status"]).to.equal("Active");
  });

  it("knows of sessions that others ended, and of sessions that they began", async () => {
    const person = await createUser(one.owner.client, "developer");
    const there = person.client.at(late.url);
    expect((await there.get("/api/v1/users")).status).to.equal(200);
    await one.owner.client.patch(`/api/v1/users/${person.id}`, { role: 20 });
    expect((await there.get("/api/v1/users")).status).to.equal(401);
    const again = await login(here.url, person.email);
    expect((await again.at(late.url).get("/api/v1/users")).status).to.equal(200);
  });

  it("refuses an ended session although the notice of its end has expired", async () => {
    const person = await createUser(one.owner.client, "developer");
    await one.owner.client.patch(`/api/v1/users/${person.id}`, { password: "another password" });
    await engines.state.put(`sessions:${person.id}`, "", 0);
    expect((await person.client.get("/api/v1/users")).status).to.equal(401);
  });

  it("waits for read models that are behind", async () => {
    const { client } = one.owner;
    const { path, apiKey } = await openIngest(client, one.tenantId);
    const made: [string, () => Promise<string>][] = [
      ["users", async () => (await createUser(client, "viewer")).id],
      ["destinations", async () => String((await client.post("/api/v1/destinations", { url })).json["id"])],
      ["api-keys", async () => String((await client.post("/api/v1/api-keys", { name: "k" })).json["id"])],
      [
        "events",
        async () =>
          String((await client.call("POST", path, { json: {}, headers: { "x-api-key": apiKey } })).json["eventId"]),
      ],
    ];
    for (const [list, make] of made) {
      const letGo = engines.holdBackProjector();
      const id = await make();
      const asked = client.at(late.url).get(`/api/v1/${list}?Qt=100`);
      // A list that did not wait would be answered before this request.
      await client.at(late.url).get(`/api/v1/tenants/${one.tenantId}`);
      letGo();
      const { items } = (await asked).json as { items: { id: string }[] };
      expect(
        items.map((item) => item.id),
        list,
      ).to.include(id);
    }
  });
});
