import { expect } from "chai";
import { createService, openAccount, signIn, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { http, shaped } from "../support/http.ts";

describe("me", () => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  it("names the caller, its tenant, its role and the end of its session", async () => {
    const { owner } = one;
    const me = shaped(await owner.client.get("/api/v1/me"), "me");
    expect(me).to.deep.include({
      principal: { type: "user", id: owner.id, name: owner.email },
      tenant: { id: one.tenantId, name: one.name },
      role: "Owner",
      scopes: null,
    });
    const end = new Date(String(me["expiresAt"])).getTime();
    expect(end - engines.clock.now()).to.be.within(3_500_000, 3_600_000);
  });

  it("is the same in a browser", async () => {
    const headers = await signIn(api.url, one.viewer.email);
    const answer = await http("GET", `${api.url}/api/v1/me`, { headers });
    expect(shaped(answer, "me")).to.deep.include({ role: "Viewer", tenant: { id: one.tenantId, name: one.name } });
  });

  it("names a service account, its key's scopes and end, and only operations that both allow", async () => {
    const { id, client } = await createService(one.owner.client, "developer");
    const me = shaped(await client.get("/api/v1/me"), "me");
    const { name } = await one.owner.client.api.getServiceAccount({ id });
    expect(me).to.deep.include({ principal: { type: "serviceAccount", id, name }, scopes: null, expiresAt: null });
    expect(me["operations"]).to.include.members(["createUser", "getTenant", "listServiceKeys", "replayEvent"]);
    const forbidden = ["updateUser", "purgeEvents", "createApiKey", "getWebhookSecret", "createServiceKey", "logout"];
    for (const none of forbidden) {
      expect(me["operations"]).not.to.include(none);
    }
    const expiresAt = new Date(engines.clock.now() + 60_000).toISOString();
    const scopes = ["destinations:write" as const];
    const { key } = await one.owner.client.api.createServiceKey({ id }, { name: "key", scopes, expiresAt });
    const limited = shaped(await client.with(key).get("/api/v1/me"), "me");
    expect(limited).to.deep.include({ scopes, expiresAt });
    expect(limited["operations"]).to.include.members(["getMe", "login", "getDestination", "deleteDestination"]);
    for (const none of ["listEvents", "getTenant", "listDestinationHistory"]) {
      expect(limited["operations"]).not.to.include(none);
    }
  });

  it("is compared with X-Relay-Principal before body and rights are looked at", async () => {
    const { viewer, owner } = one;
    const ask = async (client: typeof viewer.client, principal: string) => (await http(
      "POST", `${api.url}/api/v1/destinations`,
      { body: "no JSON", headers: { authorization: `Bearer ${client.token ?? ""}`, "x-relay-principal": principal } },
    )).status;
    const service = await createService(owner.client, "developer");
    expect(await ask(viewer.client, owner.id)).to.equal(412);
    expect(await ask(viewer.client, "")).to.equal(412);
    expect(await ask(viewer.client, viewer.id.toUpperCase())).to.equal(400);
    expect(await ask(service.client, owner.id)).to.equal(412);
    expect(await ask(service.client, service.id)).to.equal(400);
    expect(await ask(owner.client.with("no token"), owner.id)).to.equal(401);
  });

  it("names operations of the API's description, more of them for a higher role", async () => {
    const known = Object.values(apiDocument.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId));
    const people = [one.viewer, one.developer, one.admin, one.owner];
    const lists = await Promise.all(people.map(async ({ client }) => (await client.api.getMe()).operations));
    for (const [at, list] of lists.entries()) {
      expect(known).to.include.members(list);
      expect(list).to.include.members(lists[at - 1] ?? []);
      expect(list).to.include.members(["getMe", "listEvents", "updateUser"]).and.not.include("ingest");
    }
    const [viewer, developer, admin] = lists;
    expect(viewer).to.not.include.members(["replayEvent"]);
    expect(developer).to.include.members(["replayEvent"]).and.not.include("purgeEvents");
    expect(admin).to.include("purgeEvents");
  });
});
