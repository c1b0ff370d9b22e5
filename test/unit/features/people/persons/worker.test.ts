import { expect } from "chai";
import { create } from "../../../../../projections/projection.ts";
import { forgetting } from "../../../../../projections/users/users.ts";
import { SystemIds } from "../../../../../src/engines/system/system-ids.ts";
import { Forgetter } from "../../../../../src/features/people/persons/worker.ts";
import { timestamp } from "../../../../../src/kernel/domain/time.ts";
import { createTenant, createUser, freshEmail, login, password } from "../../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../../support/api-engines.ts";
import { http } from "../../../../support/http.ts";
import { quiet } from "../../../../support/telemetry.ts";

describe("forgetting deleted users", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  beforeEach(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  afterEach(async () => {
    await api.close();
    await engines.close();
  });

  /** Runs the forgetter; returns its anomalies. */
  const runForgetter = async () => {
    const { clock } = engines;
    const anomalies: string[] = [];
    const metrics = { anomaly: (kind: string) => anomalies.push(kind) };
    const parts = { clock, ids: new SystemIds(), logger: quiet, metrics };
    const forgetter = new Forgetter({ forgetting: api.services.forgetting, ...parts });
    await forgetter.run(() => false);
    return anomalies;
  };
  const register = (token: string, { url } = api) =>
    http("POST", `${url}/api/v1/invites/${token}/register`, { json: { password } });
  const personOf = (id: string) => engines.store.readStream(`person-${id}`);
  const factsOf = async (stream: string) => (await engines.store.readStream(stream)).map(({ type }) => type);
  const contents = () => JSON.stringify(engines.readModels.contents());
  /** Invites an address; returns the invite. */
  const invite = async (client: TestApiClient, email: string) =>
    (await client.post("/api/v1/invites", { email, role: 0 })).json as { id: string; inviteToken: string };
  type TestApiClient = Awaited<ReturnType<typeof login>>;
  /** Deletes a user in a process that dies before it deletes any key; afterwards the forgetter is due. */
  const deleteHalfway = async (client: TestApiClient, id: string) => {
    const deleteStream = engines.store.deleteStream.bind(engines.store);
    engines.store.deleteStream = async () => {
      throw new Error("died");
    };
    expect((await client.delete(`/api/v1/users/${id}`)).status).to.equal(500);
    engines.store.deleteStream = deleteStream;
    engines.clock.advance(10_000);
    await engines.readModels.caughtUp(await engines.store.head(), 2_000);
  };

  it("is part of the deletion itself", async () => {
    const { tenantId, owner } = await createTenant(api.url);
    const user = await createUser(owner.client, "viewer");
    const { email } = user;
    expect(contents()).to.include(email);
    expect((await owner.client.delete(`/api/v1/users/${user.id}`)).status).to.equal(204);
    expect(await personOf(user.id)).to.deep.equal([]);
    expect((await factsOf(`tenant-${tenantId}`)).slice(-2)).to.deep.equal(["UserDeleted", "UserForgotten"]);
    await engines.readModels.caughtUp(await engines.store.head(), 2_000);
    expect(contents()).not.to.include(email);
    expect(engines.readModels.contents().documents["forgetting"] ?? {}).to.deep.equal({});
  });

  it("is finished after a process died at any moment after the deletion was in the log", async () => {
    const deleteStream = engines.store.deleteStream.bind(engines.store);
    for (const dies of ["before any key went", "before it said so"]) {
      const { tenantId, owner } = await createTenant(api.url);
      const user = await createUser(owner.client, "viewer");
      engines.store.deleteStream = async (...args) => {
        if (dies === "before any key went") throw new Error("died");
        await deleteStream(...args);
        engines.store.beforeAppend = () => {
          throw new Error("died");
        };
      };
      expect((await owner.client.delete(`/api/v1/users/${user.id}`)).status).to.equal(500);
      expect(await factsOf(`tenant-${tenantId}`)).to.include("UserDeleted").and.not.include("UserForgotten");
      expect((await personOf(user.id)).length, dies).to.equal(dies === "before any key went" ? 1 : 0);
      engines.clock.advance(10_000);
      await engines.readModels.caughtUp(await engines.store.head(), 2_000);
      expect(await runForgetter()).to.deep.equal(["forgetter"]);
      engines.store.deleteStream = deleteStream;
      engines.store.beforeAppend = () => undefined;
      expect(await runForgetter()).to.deep.equal([]);
      expect(await factsOf(`tenant-${tenantId}`)).to.include("UserForgotten");
      expect(await personOf(user.id)).to.deep.equal([]);
      expect(await personOf(owner.id)).to.have.length(1);
    }
    expect(api.errors.length).to.equal(2);
  });

  it("is done once, even if the read models learn of it late", async () => {
    const { tenantId, owner } = await createTenant(api.url);
    const user = await createUser(owner.client, "viewer");
    const deleteStream = engines.store.deleteStream.bind(engines.store);
    let letGo = () => {};
    engines.store.deleteStream = async (...args) => {
      letGo = engines.holdBackProjector();
      await deleteStream(...args);
    };
    expect((await owner.client.delete(`/api/v1/users/${user.id}`)).status).to.equal(204);
    expect(engines.readModels.contents().documents["forgetting"]).to.have.property(user.id);
    engines.clock.advance(10_000);
    for (let second = 0; second < 3; second += 1) await runForgetter();
    letGo();
    const facts = await factsOf(`tenant-${tenantId}`);
    expect(facts.filter((type) => type === "UserForgotten")).to.have.length(1);
  });

  it("is not held up by a hundred others without effect", async () => {
    const { tenantId, owner } = await createTenant(api.url);
    const user = await createUser(owner.client, "viewer");
    const deletedAt = timestamp(0);
    const others = Array.from({ length: 100 }, (_, at) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`);
    await engines.readModels.amend(others.map((userId) => create(forgetting, { userId, tenantId: userId, deletedAt })));
    await deleteHalfway(owner.client, user.id);
    await runForgetter();
    expect(await factsOf(`tenant-${tenantId}`)).to.include("UserForgotten");
  });

  it("forgets the tenant's invites to every address of the user, but no later or other invites", async () => {
    const [here, there] = [await createTenant(api.url), await createTenant(api.url)];
    const [email, former, bystander] = [freshEmail(), freshEmail(), freshEmail()];
    const { client } = here.owner;
    const revoked = await invite(client, email);
    await client.delete(`/api/v1/invites/${revoked.id}`);
    const pending = await invite(client, email.toUpperCase());
    const toFormer = await invite(client, former);
    const others = await invite(client, bystander);
    const elsewhere = await invite(there.owner.client, email);
    const created = await client.post("/api/v1/users", { email: former, password, role: 0 });
    const { id } = created.json as { id: string };
    expect((await client.patch(`/api/v1/users/${id}`, { email })).status).to.equal(200);
    const since = await invite(client, former);
    expect((await client.delete(`/api/v1/users/${id}`)).status).to.equal(204);

    for (const gone of [id, revoked.id, pending.id, toFormer.id]) expect(await personOf(gone)).to.deep.equal([]);
    for (const stays of [since.id, others.id, elsewhere.id]) expect(await personOf(stays)).to.have.length(1);
    const { items } = (await client.get("/api/v1/invites")).json as { items: { id: string; email: string | null }[] };
    const shown = items.filter((item) => item.email !== null).map((item) => item.id);
    expect(shown).to.have.members([since.id, others.id]);
    for (const { inviteToken } of [revoked, pending, toFormer]) {
      expect((await register(inviteToken)).status).to.equal(404);
    }
    for (const { inviteToken } of [since, elsewhere]) expect((await register(inviteToken)).status).to.equal(201);
  });

  it("deletes the key of an invite when a process died after forgetting the invite", async () => {
    const { tenantId, owner: { client } } = await createTenant(api.url);
    const email = freshEmail();
    const { id: inviteId } = await invite(client, email);
    const { json: { id } } = await client.post("/api/v1/users", { email, password });
    await deleteHalfway(client, String(id));
    expect(api.errors.length).to.equal(1);
    expect((await factsOf(`invite-${inviteId}`)).at(-1)).to.equal("InviteForgotten");
    expect(await runForgetter()).to.deep.equal([]);
    expect(await factsOf(`tenant-${tenantId}`)).to.include("UserForgotten");
    expect(await personOf(inviteId)).to.deep.equal([]);
    expect((await factsOf(`invite-${inviteId}`)).filter((type) => type === "InviteForgotten")).to.have.length(1);
  });

  it("keeps a user who registers at the same moment through an invite to the deleted user's address", async () => {
    const elsewhere = await startApi(engines);
    const { owner: { client } } = await createTenant(api.url);
    const email = freshEmail();
    const { id, inviteToken } = await invite(client, email);
    const { json: former } = await client.post("/api/v1/users", { email, password });
    let registered: number | undefined;
    engines.store.beforeAppend = async (stream) => {
      if (stream !== `invite-${id}`) return;
      engines.store.beforeAppend = () => undefined;
      registered = (await register(inviteToken, elsewhere)).status;
    };
    expect((await client.delete(`/api/v1/users/${String(former["id"])}`)).status).to.equal(204);
    await elsewhere.close();
    expect(registered).to.equal(201);
    expect(await personOf(id)).to.have.length(1);
    expect((await client.get(`/api/v1/users/${id}`)).json).to.include({ email });
  });

  it("keeps a user who registered through an invite to a former address of the deleted user", async () => {
    const { owner: { client } } = await createTenant(api.url);
    const email = freshEmail();
    const { id, inviteToken } = await invite(client, email);
    const { json: former } = await client.post("/api/v1/users", { email, password });
    const path = `/api/v1/users/${String(former["id"])}`;
    expect((await client.patch(path, { email: freshEmail() })).status).to.equal(200);
    expect((await register(inviteToken)).status).to.equal(201);
    expect((await client.delete(path)).status).to.equal(204);
    expect((await client.get(`/api/v1/users/${id}`)).json).to.include({ email });
  });
});
