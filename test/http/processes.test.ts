import { expect } from "chai";
import { describeOnEngines, startApi, type TestApi } from "../support/api.ts";
import { createUser, freshEmail, login, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { http } from "../support/http.ts";

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
    const [a, b] = [one.owner.client, one.owner.client.at(there.url)];
    for (let round = 0; round < 20; round += 1) {
      await a.patch(`/api/v1/tenants/${one.tenantId}`, { maxTrys: round + 1 });
      expect((await b.get(`/api/v1/tenants/${one.tenantId}`)).json["maxTrys"]).to.equal(round + 1);
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
