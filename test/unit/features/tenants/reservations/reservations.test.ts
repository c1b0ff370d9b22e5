import { expect } from "chai";
import { tenants } from "../../../../../src/features/tenants/facts.ts";
import { Reservations } from "../../../../../src/features/tenants/reservations/reservations.ts";
import { streams } from "../../../../../src/kernel/domain/streams.ts";
import { LogUnavailable } from "../../../../../src/kernel/ports/event-store.ts";
import { createTenant, createUser, freshEmail, login, password, unique } from "../../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../../support/api-engines.ts";
import { http } from "../../../../support/http.ts";

const half = 30_000;

describe("reservations", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let release: (() => void) | undefined;
  beforeEach(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  afterEach(async () => {
    engines.store.beforeAppend = () => undefined;
    release?.();
    expect(api.errors).to.deep.equal([]);
    await api.close();
  });

  const create = (fields: object) =>
    http("POST", `${api.url}/api/v1/tenants`, {
      json: { name: unique("T"), ownerEmail: freshEmail(), ownerPassword: password, ...fields },
    });

  /** Holds back the next append that carries a fact of this type; resolves when that append has begun. */
  const holdBack = (type: string) =>
    new Promise<void>((reached) => {
      const gate = new Promise<void>((open) => (release = open));
      engines.store.beforeAppend = async (_stream, entries) => {
        if (!entries.some(({ event }) => event.type === type)) return;
        engines.store.beforeAppend = () => undefined;
        reached();
        await gate;
      };
    });
  const failOnce = (type: string, error: Error) => {
    engines.store.beforeAppend = (_stream, entries) => {
      if (!entries.some(({ event }) => event.type === type)) return;
      engines.store.beforeAppend = () => undefined;
      throw error;
    };
  };

  it("are released when the creation that needs them fails", async () => {
    for (const type of ["PersonKeyCreated", "TenantCreated"]) {
      const [name, ownerEmail] = [unique("Back"), freshEmail()];
      failOnce(type, new Error("planted"));
      expect((await create({ name, ownerEmail })).status, type).to.equal(500);
      (api.errors as object[]).length = 0;
      expect((await create({ name, ownerEmail })).status, type).to.equal(201);
    }
  });

  it("stay for 30 s when it is unknown whether they were used, and then expire", async () => {
    const [name, ownerEmail] = [unique("Unknown"), freshEmail()];
    failOnce("TenantCreated", new LogUnavailable("planted"));
    expect((await create({ name, ownerEmail })).status).to.equal(503);
    expect((await create({ name })).status).to.equal(409);
    engines.clock.advance(half + 1_000);
    expect((await create({ name, ownerEmail })).status).to.equal(201);
    expect((await create({ name })).status).to.equal(409);
  });

  it("in use are never taken over", async () => {
    const { owner, name } = await createTenant(api.url);
    engines.clock.advance(10 * half);
    expect((await create({ name })).status).to.equal(409);
    expect((await create({ ownerEmail: owner.email })).status).to.equal(409);
  });

  it("are not made where another name that is needed is in use: a rival would find them held", async () => {
    const { owner } = await createTenant(api.url);
    let appends = 0;
    engines.store.beforeAppend = () => void (appends += 1);
    for (const ms of [0, 10 * half]) {
      engines.clock.advance(ms);
      expect((await create({ ownerEmail: owner.email })).status).to.equal(409);
    }
    expect(appends).to.equal(0);
  });

  it("taken over make a late creator lose", async () => {
    const [name, ownerEmail] = [unique("Late"), freshEmail()];
    const reached = holdBack("TenantCreated");
    const late = create({ name, ownerEmail });
    await reached;
    engines.clock.advance(half + 1_000);
    expect((await create({ name })).status).to.equal(201);
    release?.();
    expect((await late).status).to.equal(409);
    // The late creator's email is free again, and the winner keeps the name.
    expect((await create({ ownerEmail })).status).to.equal(201);
    expect((await create({ name })).status).to.equal(409);
  });

  it("taken over make a late change in a living tenant lose, however often it tries again", async () => {
    const first = await createTenant(api.url);
    const second = await createTenant(api.url);
    const developer = await createUser(first.owner.client, "developer");
    const email = freshEmail();
    const reached = holdBack("UserEmailChanged");
    const late = developer.client.patch(`/api/v1/users/${developer.id}`, { email });
    await reached;
    engines.clock.advance(half + 1_000);
    expect((await second.owner.client.post("/api/v1/users", { email, password })).status).to.equal(201);
    release?.();
    expect((await late).status).to.equal(409);
    expect(
      (await http("POST", `${api.url}/api/v1/auth/login`, { json: { email: developer.email, password } })).status,
    ).to.equal(200);
    const winner = await login(api.url, email);
    expect((await winner.get(`/api/v1/tenants/${second.tenantId}`)).status).to.equal(200);
    // Only that reservation is lost: the change succeeds once the email is free again.
    const [taken] = (await winner.get("/api/v1/users?Role=0")).json["items"] as { id: string }[];
    const moved = await winner.patch(`/api/v1/users/${taken?.id ?? ""}`, { email: freshEmail() });
    expect(moved.status).to.equal(200);
    expect((await developer.client.patch(`/api/v1/users/${developer.id}`, { email })).status).to.equal(200);
  });

  it("taken over make a late user, a late registration and a late name of a living tenant lose", async () => {
    const [{ owner, tenantId }, second] = [await createTenant(api.url), await createTenant(api.url)];
    const invited = freshEmail();
    const { inviteToken } = (await owner.client.post("/api/v1/invites", { email: invited, role: 0 })).json;
    const [email, name] = [freshEmail(), unique("Name")];
    const post = (path: string, json: object) => http("POST", `${api.url}/api/v1/${path}`, { json });
    const mayHave = (address: string) => second.owner.client.post("/api/v1/users", { email: address, password });
    const races = [
      ["UserCreated", () => owner.client.post("/api/v1/users", { email, password }), () => mayHave(email)],
      ["UserCreated", () => post(`invites/${String(inviteToken)}/register`, { password }), () => mayHave(invited)],
      ["TenantRenamed", () => owner.client.patch(`/api/v1/tenants/${tenantId}`, { name }), () => create({ name })],
    ] as const;
    for (const [type, late, next] of races) {
      const reached = holdBack(type);
      const answer = late();
      await reached;
      engines.clock.advance(half + 1_000);
      expect((await next()).status, type).to.equal(201);
      release?.();
      expect((await answer).status, type).to.equal(409);
    }
  });

  it("of a tenant are not in the way of its other settings", async () => {
    const { owner, tenantId } = await createTenant(api.url);
    const [path, name] = [`/api/v1/tenants/${tenantId}`, unique("Name")];
    const another = await startApi(engines);
    const reached = holdBack("TenantDeliveryPolicyChanged");
    const late = owner.client.patch(path, { maxTrys: 3 });
    await reached;
    expect((await owner.client.at(another.url).patch(path, { name })).status).to.equal(200);
    release?.();
    expect((await late).json).to.include({ name, maxTrys: 3 });
    await another.close();
  });

  it("are released only by their owner", async () => {
    const reservations = new Reservations(api.world);
    const origin = { actor: { type: "anonymous" } as const, correlationId: "test", causationId: null };
    const stream = streams.email("abc");
    const { tenantId } = await createTenant(api.url);
    const claim = { stream, holder: { tenantId, userId: api.world.ids.uuid() }, taken: "taken" };
    const names = await reservations.during([claim], origin, async (all) => all);
    const held = await reservations.find(stream);
    if (!held) throw new Error("not held");
    engines.clock.advance(half + 1_000);
    const next = { ...claim, holder: { tenantId, userId: api.world.ids.uuid() } };
    await reservations.during([next], origin, async () => undefined);
    await reservations.release(held, origin);
    expect((await reservations.find(stream))?.holder).to.deep.equal(next.holder);
    const { state } = await api.world.aggregates.current(tenants, tenantId);
    expect([...(state?.refused ?? [])]).to.deep.equal(names);
  });

  it("of an email that a user has changed expire after 30 s where their release failed", async () => {
    const { owner } = await createTenant(api.url);
    failOnce("NameReleased", new LogUnavailable("planted"));
    const old = owner.email;
    expect((await owner.client.patch(`/api/v1/users/${owner.id}`, { email: freshEmail() })).status).to.equal(200);
    expect((await create({ ownerEmail: old })).status).to.equal(409);
    engines.clock.advance(half + 1_000);
    expect((await create({ ownerEmail: old })).status).to.equal(201);
  });
});
