import { expect } from "chai";
import { tenants } from "../../src/features/tenants/facts.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { logStart, noStream } from "../../src/kernel/ports/event-store.ts";
import { PlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import { freshEmail, login, openAccount, password, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const dayMs = 86_400_000;

describeOnEngines("invites", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    await openAccounts();
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Sessions end within the hour, so a test that moves the clock needs new ones. */
  const openAccounts = async () => {
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
  };
  const ask = (fields: object = {}, by = one.admin.client) =>
    by.post("/api/v1/invites", { email: freshEmail(), role: 0, ...fields });
  const invite = async (fields: object = {}, by = one.admin.client) => {
    const answer = await ask(fields, by);
    expect(answer.status, answer.text).to.equal(201);
    return answer.json as { id: string; email: string; inviteToken: string; expiresAt: string };
  };
  const register = (token: string, fields: object = { password }) =>
    http("POST", `${api.url}/api/v1/invites/${token}/register`, { json: fields });
  const listed = async (id: string) => {
    const answer = await one.viewer.client.get("/api/v1/invites?Qt=100&CpOrd=createdAt&TpOrd=Desc");
    const { items } = shaped(answer, "invite-page") as { items: { id: string; status: string; email: string }[] };
    return items.find((item) => item.id === id);
  };

  it("are made with 201, their token shown only then, and are good for 7 days", async () => {
    const email = freshEmail().toUpperCase();
    const answer = await ask({ email, role: 20 });
    expect(answer.status).to.equal(201);
    const { inviteToken, ...rest } = shaped(answer, "created-invite");
    expect(rest).to.include({ tenantId: one.tenantId, email, role: "Viewer", status: "Pending" });
    expect(Date.parse(String(rest["expiresAt"])) - Date.parse(String(rest["createdAt"]))).to.equal(7 * dayMs);
    const list = await one.viewer.client.get("/api/v1/invites?Qt=100");
    expect(shaped(list, "invite-page")["items"]).to.deep.include(rest);
    expect(list.text).not.to.include(String(inviteToken));
  });

  it("let one user register, with the role and email of the invite", async () => {
    const { id, email, inviteToken } = await invite({ role: 1 });
    const answer = await register(inviteToken);
    expect(answer.status, answer.text).to.equal(201);
    expect(shaped(answer, "user")).to.include({ tenantId: one.tenantId, email, role: "Admin", status: "Active" });
    const client = await login(api.url, email);
    expect((await client.get("/api/v1/users")).status).to.equal(200);
    expect(await listed(id)).to.include({ status: "Accepted", email });
    const again = await register(inviteToken);
    expect([again.status, again.text]).to.deep.equal([409, "the invite was used already"]);
    expect((await one.admin.client.delete(`/api/v1/invites/${id}`)).status).to.equal(409);
  });

  it("stay used when their user is deleted, and lose the user's address", async () => {
    const { id, email, inviteToken } = await invite();
    const userId = String((await register(inviteToken)).json["id"]);
    expect((await one.owner.client.delete(`/api/v1/users/${userId}`)).status).to.equal(204);
    engines.clock.advance(60_000);
    expect((await register(inviteToken)).status).to.equal(409);
    expect(await listed(id)).to.include({ status: "Accepted", email: null });
    // Another invite to the same address can be used.
    expect((await register((await invite({ email })).inviteToken)).status).to.equal(201);
  });

  it("give 404 once they are revoked, or if they never existed", async () => {
    const { id, inviteToken } = await invite();
    const answer = await one.admin.client.delete(`/api/v1/invites/${id}`);
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    expect((await register(inviteToken)).status).to.equal(404);
    expect(await listed(id)).to.include({ status: "Revoked" });
    expect((await one.admin.client.delete(`/api/v1/invites/${id}`)).status).to.equal(204);
    for (const token of ["inv_", "x", nowhere, id, inviteToken.toUpperCase(), `${inviteToken}A`]) {
      expect((await register(token)).status, token).to.equal(404);
    }
  });

  it("expire", async () => {
    const { id, inviteToken } = await invite();
    engines.clock.advance(7 * dayMs - 60_000);
    await openAccounts();
    const last = await invite();
    engines.clock.advance(60_000);
    expect((await register(inviteToken)).status).to.equal(422);
    expect((await register(last.inviteToken)).status).to.equal(201);
    expect(id).not.to.equal(last.id);
  });

  it("are shown as expired from their last moment on", async () => {
    const { id } = await invite();
    expect(await listed(id)).to.include({ status: "Pending" });
    engines.clock.advance(7 * dayMs);
    one = { ...one, viewer: { ...one.viewer, client: await login(api.url, one.viewer.email) } };
    expect(await listed(id)).to.include({ status: "Expired" });
    await openAccounts();
  });

  it("give 409 for the email of a user of any tenant, in any case", async () => {
    for (const { email } of [one.viewer, other.owner]) {
      const answer = await ask({ email: email.toUpperCase() });
      expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([409, "email"]);
    }
    // A caller without the right to invite cannot probe for addresses either.
    expect((await ask({ email: other.owner.email }, one.developer.client)).status).to.equal(403);
    const { email, inviteToken } = await invite();
    expect((await other.owner.client.post("/api/v1/users", { email, password })).status).to.equal(201);
    const late = await register(inviteToken);
    expect([late.status, late.text.split(":")[0]]).to.deep.equal([409, "email"]);
  });

  it("are usable once their email, taken meanwhile, is free again", async () => {
    const { email, inviteToken } = await invite();
    const { id } = (await other.owner.client.post("/api/v1/users", { email, password })).json as { id: string };
    expect((await register(inviteToken)).status).to.equal(409);
    expect((await other.owner.client.delete(`/api/v1/users/${id}`)).status).to.equal(204);
    expect((await register(inviteToken)).status).to.equal(201);
  });

  it("let exactly one of many concurrent registrations in", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { email, inviteToken } = await invite();
      const answers = await Promise.all(Array.from({ length: 30 }, () => register(inviteToken)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201), statuses.join()).to.have.length(1);
      expect(statuses.filter((status) => status === 409), statuses.join()).to.have.length(29);
      const { items } = (await one.owner.client.get("/api/v1/users?Qt=100")).json as { items: { email: string }[] };
      expect(items.filter((user) => user.email === email)).to.have.length(1);
    }
  });

  it("are either revoked or used, never both", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, email, inviteToken } = await invite();
      const [entered, revoked] = await Promise.all([
        register(inviteToken),
        one.admin.client.delete(`/api/v1/invites/${id}`),
      ]);
      expect([
        [201, 409],
        [404, 204],
      ]).to.deep.include([entered.status, revoked.status]);
      const { items } = (await one.owner.client.get("/api/v1/users?Qt=100")).json as { items: { email: string }[] };
      expect(items.some((user) => user.email === email)).to.equal(entered.status === 201);
    }
  });

  describe("accepted by a process that died before it created the user", () => {
    /** The email is still reserved, under `reservation`. */
    async function halfUsed() {
      const invited = await invite();
      const { id, email } = invited;
      const at = timestamp(engines.clock.now());
      const origin = { actor: { type: "anonymous" }, correlationId: "lost", causationId: null } as const;
      const reserved = { type: "NameReserved", data: { holder: { tenantId: one.tenantId, userId: id }, at } };
      const accepted = { type: "InviteAccepted", data: { inviteId: id, tenantId: one.tenantId, at } };
      const name = streams.email(await new PlatformKeys(api.world).emailHash(email));
      await engines.store.append(name, noStream, entriesOf([reserved], origin, api.world.ids));
      await engines.store.append(streams.invite(id), 0, entriesOf([accepted], origin, api.world.ids));
      return { ...invited, reservation: `${name}@0` };
    }

    it("let one registration in 30 s later", async () => {
      const { inviteToken } = await halfUsed();
      expect((await register(inviteToken)).status).to.equal(409);
      engines.clock.advance(30_001);
      const statuses = (await Promise.all([register(inviteToken), register(inviteToken)])).map(({ status }) => status);
      expect(statuses.sort()).to.deep.equal([201, 409]);
      engines.clock.advance(30_001);
      expect((await register(inviteToken)).status).to.equal(409);
    });

    it("can be revoked 30 s later, and then let nobody in, not even that process", async () => {
      const { id, email, inviteToken, reservation } = await halfUsed();
      const revoke = () => one.admin.client.delete(`/api/v1/invites/${id}`);
      expect((await revoke()).status).to.equal(409);
      engines.clock.advance(30_001);
      expect((await one.developer.client.delete(`/api/v1/invites/${id}`)).status).to.equal(403);
      expect((await revoke()).status).to.equal(204);
      expect((await listed(id))?.status).to.equal("Revoked");
      expect((await register(inviteToken)).status).to.equal(404);
      const { state: tenant } = await api.world.aggregates.current(tenants, one.tenantId);
      expect(tenant?.refused).to.include(reservation);
      expect((await other.admin.client.post("/api/v1/users", { email, password })).status).to.equal(201);
    });

    it("can be revoked although another tenant's user has taken their address, and keeps it", async () => {
      const { id, email } = await halfUsed();
      engines.clock.advance(30_001);
      const taken = await other.admin.client.post("/api/v1/users", { email, password });
      expect(taken.status).to.equal(201);
      expect((await one.admin.client.delete(`/api/v1/invites/${id}`)).status).to.equal(204);
      expect((await other.admin.client.post("/api/v1/users", { email, password })).status).to.equal(409);
    });
  });

  const bad: [object, string][] = [
    [{ email: undefined }, "email"],
    [{ email: "nobody" }, "email"],
    [{ email: 5 }, "email"],
    [{ email: `${"x".repeat(250)}@example.com` }, "email"],
    [{ role: undefined }, "role"],
    [{ role: 2 }, "role"],
    [{ role: "Admin" }, "role"],
    [{ role: null }, "role"],
  ];
  for (const [fields, field] of bad) {
    it(`give 400 naming ${field} for ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      for (const { client } of [one.admin, one.viewer]) {
        const answer = await ask(fields, client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      }
    });
  }

  it("refuse an invalid password before they look at the token", async () => {
    const { inviteToken } = await invite();
    for (const fields of [{}, { password: "short" }, { password: 5 }, { password: "x".repeat(73) }]) {
      for (const token of [inviteToken, "inv_none"]) {
        const answer = await register(token, fields);
        expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, "password"]);
      }
    }
    expect((await register(inviteToken)).status).to.equal(201);
  });

  it("are sorted and paged, and totalled", async () => {
    const tenant = await openAccount(api.url);
    const roles = [0, 20, 1];
    for (const role of roles) await invite({ role }, tenant.owner.client);
    for (const field of ["id", "email", "role", "createdAt", "expiresAt"]) {
      const ascending = (await tenant.owner.client.get(`/api/v1/invites?CpOrd=${field}`)).json;
      const descending = (await tenant.owner.client.get(`/api/v1/invites?CpOrd=${field}&TpOrd=desc`)).json;
      expect(ascending["total"]).to.equal(3);
      const items = ascending["items"] as Record<string, string>[];
      expect([...items].sort((a, b) => (String(a[field]) < String(b[field]) ? -1 : 1))).to.deep.equal(items);
      expect((descending["items"] as object[]).toReversed()).to.deep.equal(items);
    }
    const page = (await tenant.owner.client.get("/api/v1/invites?Qt=2&Pg=2")).json;
    expect([page["total"], (page["items"] as object[]).length]).to.deep.equal([3, 1]);
    expect((await tenant.owner.client.get("/api/v1/invites?CpOrd=tokenHash")).status).to.equal(400);
  });

  it("leave neither address nor token in the log", async () => {
    const { email, inviteToken } = await invite();
    await register(inviteToken);
    const { entries } = await engines.store.readLog(logStart, 100_000);
    expect(entries.some(({ type }) => type === "InviteCreated")).to.equal(true);
    const text = JSON.stringify(entries);
    for (const secret of [email, inviteToken, inviteToken.slice(4)]) expect(text).not.to.include(secret);
  });
});
