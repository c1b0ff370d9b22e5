import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { LogUnavailable, logStart } from "../../src/kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../src/kernel/ports/expiring-state.ts";
import { ReadModelsUnavailable } from "../../src/kernel/ports/read-models.ts";
import { createUser, freshEmail, openAccount, openIngest, password, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { spoilReads } from "../support/spoiled.ts";

describe("when engines fail", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => {
    engines.store.beforeAppend = () => undefined;
    (api.errors as object[]).length = 0;
  });

  const send = (headers: Readonly<Record<string, string>> = {}) =>
    http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": ingest.apiKey, ...headers } });

  it("an unavailable log gives 503, on writes and ingest", async () => {
    const { eventId } = (await send()).json;
    engines.store.beforeAppend = () => {
      throw new LogUnavailable("the log is away: host db-7");
    };
    const answers = await Promise.all([
      send(),
      one.owner.client.post("/api/v1/users", { email: freshEmail(), password }),
      one.owner.client.post("/api/v1/destinations", { url: "https://receiver.example" }),
      one.owner.client.patch(`/api/v1/tenants/${one.tenantId}`, { maxTrys: 77 }),
      one.owner.client.post(`/api/v1/events/${String(eventId)}/cancel`),
      one.owner.client.post("/api/v1/auth/logout"),
    ]);
    for (const { status, text } of answers) {
      expect(status).to.equal(503);
      expect(text).not.to.include("db-7");
    }
    engines.store.beforeAppend = () => undefined;
    expect((await one.owner.client.get(`/api/v1/tenants/${one.tenantId}`)).json["maxTrys"]).to.equal(10);
    expect((await send()).status).to.equal(202);
    expect(api.errors).to.deep.equal([]);
  });

  it("an unavailable expiring state gives 503, and nobody is authenticated", async () => {
    const away = { get: engines.state.get.bind(engines.state) };
    engines.state.get = async () => {
      throw new ExpiringStateUnavailable("away");
    };
    expect((await one.owner.client.get("/api/v1/users")).status).to.equal(503);
    Object.assign(engines.state, away);
    expect((await one.owner.client.get("/api/v1/users")).status).to.equal(200);
    expect(api.errors).to.deep.equal([]);
  });

  it("an unexpected error gives 500 without its message, and is logged", async () => {
    engines.store.beforeAppend = () => {
      throw new Error("a secret detail");
    };
    const answers = [await send(), await one.owner.client.post("/api/v1/api-keys", { name: "k" })];
    for (const { status, text } of answers) {
      expect([status, text]).to.deep.equal([500, "something went wrong here; it has been noted"]);
    }
    for (const [at, { headers }] of answers.entries()) {
      expect(api.errors[at]).to.have.property("requestId", headers.get("x-request-id"));
    }
    expect(api.errors).to.have.length(2);
  });

  it("read models that cannot catch up give 503 to a user's deletion, which leaves the user as it was", async () => {
    const person = await createUser(one.owner.client, "developer");
    const path = `/api/v1/users/${person.id}`;
    const caughtUp = engines.readModels.caughtUp.bind(engines.readModels);
    engines.readModels.caughtUp = async () => false;
    const refused = await one.owner.client.delete(path);
    engines.readModels.caughtUp = caughtUp;
    expect(refused.status).to.equal(503);
    expect((await person.client.get(path)).json["email"]).to.equal(person.email);
    expect((await one.owner.client.delete(path)).status).to.equal(204);
    expect(api.errors).to.deep.equal([]);
  });

  it("a query is repeated if the read models are lost while it runs", async () => {
    const models = engines.readModels;
    /** Lost until their position is asked for; then they are back. */
    const lose = () => {
      const lost = {
        get: async () => null, find: async () => [], sum: async () => 0, count: async () => 0,
        checkpoint: async () => {
          for (const method of Object.keys(lost)) Reflect.deleteProperty(models, method);
          return logStart;
        },
      };
      Object.assign(models, lost);
    };
    const client = one.owner.client;
    for (const list of ["users", "destinations", "api-keys", "events"]) {
      const { json: whole } = await client.get(`/api/v1/${list}`);
      expect(whole["total"]).to.be.greaterThan(0);
      lose();
      expect((await client.get(`/api/v1/${list}`)).json).to.deep.equal(whole);
    }
    const elsewhere = await startApi(engines);
    try {
      lose();
      const headers = { "x-api-key": ingest.apiKey };
      expect((await http("POST", elsewhere.url + ingest.path, { json: {}, headers })).status).to.equal(202);
    } finally {
      await elsewhere.close();
    }
  });

  it("read models that cannot catch up give 503 to lists, not stale answers", async () => {
    await engines.projector.stop();
    await one.owner.client.post("/api/v1/api-keys", { name: "unseen" });
    engines.readModels.caughtUp = async () => false;
    expect((await one.owner.client.get("/api/v1/api-keys")).status).to.equal(503);
    engines.readModels.caughtUp = async () => {
      throw new ReadModelsUnavailable("away");
    };
    expect((await one.owner.client.get("/api/v1/events")).status).to.equal(503);
    // The event of an idempotency key is looked up in the log itself.
    const keyed = (await send({ "x-idempotency-key": "order-1" })).json["eventId"];
    const { items } = (await one.owner.client.get("/api/v1/events?IdempotencyKey=order-1")).json;
    expect(items).to.have.nested.property("[0].id", keyed);
    expect(api.errors).to.deep.equal([]);
  });
});

describe("when a record can no longer be read", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    // State folded before stays in memory.
    spoilReads(engines.store, ({ type }) => type === "UserCreated");
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  it("the second use of an invite gives 503: the first may have created that user", async () => {
    const invite = (await one.owner.client.post("/api/v1/invites", { email: freshEmail(), role: 0 })).json;
    const path = `/api/v1/invites/${String(invite["inviteToken"])}/register`;
    const register = () => http("POST", api.url + path, { json: { password } });
    expect((await register()).status).to.equal(201);
    engines.clock.advance(30_001);
    const again = await register();
    expect([again.status, again.text]).to.deep.equal([
      503, "a fact of the invite's tenant cannot be read by any process: a part of it is damaged",
    ]);
  });

  it("its user can be deleted", async () => {
    const { id } = await createUser(one.owner.client, "developer");
    expect((await one.owner.client.delete(`/api/v1/users/${id}`)).status).to.equal(204);
    expect(await engines.store.readStream(streams.person(id))).to.deep.equal([]);
  });
});
