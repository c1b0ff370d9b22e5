import { expect } from "chai";
import { recordUse } from "../../src/features/keys/api-keys/decide.ts";
import { resetOwnerPassword } from "../../src/features/people/users/commands.ts";
import { Reservations } from "../../src/features/tenants/reservations/reservations.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import type { Origin } from "../../src/kernel/log/origin.ts";
import { PlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import {
  Client, createService, freshEmail, openAccount, openIngest, password, roleCodes, type Account,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

interface Item {
  readonly type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string | null };
  readonly position: string;
  readonly time: string;
  readonly actor: { readonly type: string; readonly id?: string; readonly name?: string | null };
  readonly changes?: readonly object[];
  readonly correlationId: string;
}

interface Things {
  readonly destinationId: string;
  readonly senderId: string;
  readonly apiKeyId: string;
  readonly used: string;
  readonly revoked: string;
}

/** Visible characters, some of which a query must encode. */
const requestId = "CHG-4711/%2F+&#";
const byRequest = `&CorrelationId=${encodeURIComponent(requestId)}`;

describeOnEngines("the audit", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let things: Things;
  /** The start of the second half of the actions. */
  let half: string;

  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    things = await firstHalf();
    engines.clock.advance(60_000);
    half = timestamp(engines.clock.now());
    await secondHalf();
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  async function firstHalf(): Promise<Things> {
    const { admin, developer } = one;
    const { destinationId, apiKeyId } = await openIngest(developer.client, one.tenantId);
    const sender = await developer.client.post("/api/v1/senders", { name: "Shop", destinationUrlId: destinationId });
    const invite = async () =>
      (await admin.client.post("/api/v1/invites", { email: freshEmail(), role: roleCodes.viewer })).json;
    const [used, revoked] = [await invite(), await invite()];
    await http("POST", `${api.url}/api/v1/invites/${String(used["inviteToken"])}/register`, { json: { password } });
    const id = (made: Readonly<Record<string, unknown>>) => String(made["id"]);
    return { destinationId, apiKeyId, senderId: id(sender.json), used: id(used), revoked: id(revoked) };
  }

  async function secondHalf(): Promise<void> {
    const { admin, developer, owner, viewer } = one;
    const { destinationId, senderId, apiKeyId, revoked } = things;
    const headers = { "x-request-id": requestId };
    const change = (path: string, json: object) => owner.client.call("PATCH", `/api/v1/${path}`, { headers, json });
    await change(`tenants/${one.tenantId}`, { name: `${one.name} again`, maxTrys: 5, retentionDays: 30 });
    await change(`destinations/${destinationId}`, { serverRateLimit: 9 });
    await change(`users/${viewer.id}`, { role: roleCodes.developer });
    await admin.client.post("/api/v1/events/purge", { before: "2020-01-01" });
    await admin.client.delete(`/api/v1/invites/${revoked}`);
    await developer.client.delete(`/api/v1/senders/${senderId}`);
    await developer.client.delete(`/api/v1/destinations/${destinationId}`);
    await admin.client.delete(`/api/v1/api-keys/${apiKeyId}`);
    await owner.client.delete(`/api/v1/users/${viewer.id}`);
  }

  const audit = async (query = "", by = one.admin.client) =>
    shaped(await by.get(`/api/v1/audit?Qt=100${query}`), "audit-page") as unknown as {
      readonly total: number;
      readonly items: readonly Item[];
    };
  const destinationOf = async (client: Client) =>
    (await client.api.createDestination({ url: "https://receiver.example/hook" })).id;
  const types = ({ items }: { readonly items: readonly Item[] }) => items.map(({ type }) => type);

  it("has the facts of all histories except events and circuits, newest first, each with its subject", async () => {
    const paths = {
      [`tenants/${one.tenantId}`]: "tenant", [`tenants/${one.tenantId}/purges`]: "purge",
      [`api-keys/${things.apiKeyId}`]: "apiKey", [`invites/${things.used}`]: "invite",
      [`invites/${things.revoked}`]: "invite", [`destinations/${things.destinationId}`]: "destination",
      [`senders/${things.senderId}`]: "sender",
    };
    const told: Item[] = [];
    for (const [path, type] of Object.entries(paths)) {
      const { items } = (await one.admin.client.get(`/api/v1/${path}/history?Qt=100`)).json as unknown as {
        items: readonly (Item & { readonly data: Readonly<Record<string, string>> })[];
      };
      const subjectOf = ({ userId, purgeId }: Readonly<Record<string, string>>) =>
        userId === undefined ? { type, id: purgeId ?? path.split("/")[1]! } : { type: "user", id: userId };
      told.push(...items.map((item) => ({ ...item, subject: subjectOf(item.data) })));
    }
    const { total, items } = await audit();
    const unnamed = items.map(({ subject: { name: _, ...subject }, ...item }) => ({ ...item, subject }));
    expect(unnamed).to.have.deep.members(told);
    expect([total, items.length]).to.deep.equal([24, 24]);
    const order = ({ time, position }: Item) => `${time} ${position}`;
    expect(items.map(order)).to.deep.equal(told.map(order).sort().reverse());
    expect((await audit("&TpOrd=Asc")).items).to.deep.equal(items.toReversed());
  });

  it("pages without gap or overlap, and counts the whole", async () => {
    const { total, items } = await audit();
    for (const query of ["", "&From=2000-01-01"]) {
      const paged: Item[] = [];
      for (let page = 1; page <= Math.ceil(total / 9); page += 1) {
        const answer = await one.developer.client.get(`/api/v1/audit?Qt=9&Pg=${page}${query}`);
        const part = shaped(answer, "audit-page") as unknown as { total: number; items: Item[] };
        expect(part.total).to.equal(total);
        paged.push(...part.items);
      }
      expect(paged).to.deep.equal(items);
    }
  });

  it("filters by subject, deleted ones too", async () => {
    const { destinationId, senderId } = things;
    expect(types(await audit("&Type=DestinationDeleted"))).to.deep.equal(["DestinationDeleted"]);
    const found = (await audit("&Type=DestinationDeleted")).items[0]?.subject.id ?? "";
    expect(found).to.equal(destinationId);
    expect(types(await audit(`&SubjectId=${found.toUpperCase()}`))).to.deep.equal([
      "DestinationDeleted", "DestinationRateLimitChanged", "DestinationRegistered",
    ]);
    expect(types(await audit(`&SubjectId=${senderId}`))).to.deep.equal(["SenderDeleted", "SenderCreated"]);
    expect(types(await audit(`&SubjectId=${one.viewer.id}`))).to.deep.equal([
      "UserForgotten", "UserDeleted", "UserRoleChanged", "UserCreated",
    ]);
  });

  it("follows an invited user from the invite on, and names no actor without an account", async () => {
    const { items } = await audit(`&SubjectId=${things.used}`);
    expect(items.map(({ type, subject, actor }) => [type, subject.type, actor.type])).to.deep.equal([
      ["UserCreated", "user", "anonymous"], ["InviteAccepted", "invite", "anonymous"],
      ["InviteCreated", "invite", "user"],
    ]);
    expect(await audit(`&ActorId=${things.used}`)).to.deep.equal({ total: 0, items: [], nextCursor: null });
    const { items: [owned, created] } = await audit("&To=2100-01-01&TpOrd=Asc");
    expect([owned?.type, created?.type]).to.have.members(["TenantCreated", "UserCreated"]);
    for (const fact of [owned, created]) expect(fact?.actor).to.deep.equal({ type: "anonymous" });
  });

  it("filters by actor, by request and by time", async () => {
    const { admin, owner } = one;
    expect(types(await audit(`&ActorId=${admin.id.toUpperCase()}`))).to.deep.equal([
      "ApiKeyRevoked", "InviteRevoked", "EventsPurged", "InviteCreated", "InviteCreated",
    ]);
    expect(types(await audit(byRequest))).to.deep.equal([
      "UserRoleChanged", "DestinationRateLimitChanged", "TenantRetentionChanged", "TenantDeliveryPolicyChanged",
      "TenantRenamed",
    ]);
    expect((await audit("&CorrelationId=chg-4711%2F%252F%2B%26%23")).total).to.equal(0);
    const { items } = await audit();
    const before = timestamp(Date.parse(half) - 1);
    const [early, late] = [await audit(`&To=${before}`), await audit(`&From=${half}`)];
    expect([...late.items, ...early.items]).to.deep.equal(items);
    expect([early.total, late.total]).to.deep.equal([12, 12]);
    expect((await audit(`&From=${half}&To=2100-01-01&ActorId=${owner.id}`)).total).to.equal(7);
    expect(types(await audit(`&To=${before}&ActorId=${admin.id}`))).to.deep.equal(["InviteCreated", "InviteCreated"]);
    const all = `&Type=TenantRenamed&SubjectId=${one.tenantId}&ActorId=${owner.id}${byRequest}&From=${half}`;
    expect(types(await audit(all))).to.deep.equal(["TenantRenamed"]);
    expect((await audit(`${all}&To=${before}`)).total).to.equal(0);
  });

  it("can be read by every role of the tenant, and by no other tenant", async () => {
    for (const { client } of [one.developer, one.admin, one.owner]) {
      expect((await audit("", client)).total).to.equal(24);
    }
    expect((await new Client(api.url).get("/api/v1/audit?Qt=0")).status).to.equal(401);
    const theirs = await audit("", other.viewer.client);
    expect(types(theirs)).to.have.members(["TenantCreated", ...Array<string>(4).fill("UserCreated")]);
    for (const query of [`&SubjectId=${things.destinationId}`, `&ActorId=${one.owner.id}`, byRequest]) {
      expect(await audit(query, other.owner.client)).to.deep.equal({ total: 0, items: [], nextCursor: null });
    }
  });

  it("has the operator's actions, but neither the service's own actions nor its bookkeeping", async () => {
    const { tenantId, owner, admin } = await openAccount(api.url);
    const { path, apiKey, apiKeyId } = await openIngest(owner.client, tenantId);
    const sent = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    await new Deliveries(api.world).succeed(String(sent.json["eventId"]));
    const before = await audit("", admin.client);
    const by = (part: string): Origin => ({ actor: { type: "service", part }, correlationId: part, causationId: null });
    const at = timestamp(engines.clock.now());
    // As an ingest request does before it deletes the stream of a purged event.
    await recordUse(api.world, apiKeyId, at, { ...by("ingest"), actor: { type: "apiKey", id: apiKeyId } });
    await api.services.commands.purge.purgeOlder(tenantId, timestamp(engines.clock.now() + 60_000), by("retention"));
    const [keys, reservations] = [new PlatformKeys(api.world), new Reservations(api.world)];
    const desk = { ...api.world, keys, reservations, sessions: api.services.sessions };
    await resetOwnerPassword(desk, owner.email, `${password} anew`);
    const purges = (await admin.client.get(`/api/v1/tenants/${tenantId}/purges/history`)).json["total"];
    const uses = (await admin.client.get(`/api/v1/api-keys/${apiKeyId}/history`)).json["total"];
    expect([purges, uses]).to.deep.equal([1, 2]);
    const { total, items: [newest, ...older] } = await audit("", admin.client);
    expect([total, newest?.type, newest?.actor]).to.deep.equal([
      before.total + 1, "UserPasswordChanged", { type: "service", part: "operator" },
    ]);
    expect(older).to.deep.equal(before.items);
  });

  it("has no facts of events, and of circuits only closures by a person", async () => {
    const { owner, tenantId } = other;
    const { destinationId, ...ingest } = await openIngest(owner.client, tenantId);
    const { total } = await audit("", owner.client);
    const sent = await http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": ingest.apiKey } });
    const eventId = String(sent.json["eventId"]);
    await new Deliveries(api.world).fail(eventId, 1);
    await owner.client.post(`/api/v1/events/${eventId}/replay`);
    const circuit = { destinationId, tenantId };
    const failed = attemptEnded(eventId, false);
    await tellCircuit(api.world, circuit, failed, { type: "Close" }, failed);
    expect((await audit("", owner.client)).total).to.equal(total);
    await owner.client.patch(`/api/v1/destinations/${destinationId}`, { status: "active" });
    const { items: [closed] } = await audit(`&SubjectId=${destinationId}`, owner.client);
    const history = await owner.client.get(`/api/v1/destinations/${destinationId}/circuit/history?TpOrd=Desc`);
    const [newest] = history.json["items"] as object[];
    const subject = { type: "circuit", id: destinationId, name: "https://receiver.example/hook" };
    expect(closed).to.deep.equal({ ...newest, subject });
    expect(closed).to.deep.nested.include({ type: "CircuitClosed", "actor.id": owner.id });
    expect((await audit("", owner.client)).total).to.equal(total + 1);
  });

  it("has what each entry changed, and the names of actors and subjects as they are now", async () => {
    const { client } = other.owner;
    const { id } = await client.api.createSender({ name: "First", destinationUrlId: await destinationOf(client) });
    await client.api.updateSender({ id }, { name: "Second" });
    const service = await createService(client, "admin");
    await service.client.api.updateSender({ id }, { name: "Third" });
    const of = async (by: Client, subject: string) => (await audit(`&SubjectId=${subject}`, by)).items;
    const [third, second] = await of(client, id);
    expect(third?.changes).to.deep.equal([{ field: "name", from: "Second", to: "Third" }]);
    expect(second?.changes).to.deep.equal([{ field: "name", from: "First", to: "Second" }]);
    expect([third?.subject.name, second?.subject.name]).to.deep.equal(["Third", "Third"]);
    const { name } = await client.api.getServiceAccount({ id: service.id });
    expect([third?.actor.name, second?.actor.name]).to.deep.equal([name, other.owner.email]);
    const { items } = await client.api.listSenderHistory({ id });
    expect(items.map(({ changes }) => changes?.map(({ field }) => field))).to.deep.equal([
      ["status", "name", "destinationId"], ["name"], ["name"],
    ]);
    expect(items.map(({ actor }) => actor.name)).to.deep.equal([other.owner.email, other.owner.email, name]);
    await client.api.deleteServiceAccount({ id: service.id });
    await client.api.deleteSender({ id });
    const [deleted, ...before] = await of(client, id);
    expect(deleted?.changes).to.deep.equal([{ field: "status", from: "Active", to: "Deleted" }]);
    expect(before.map(({ subject, actor }) => [subject.name, actor.name])).to.deep.equal([
      [null, null], [null, other.owner.email], [null, other.owner.email],
    ]);
  });

  it("names nothing of a kind that the key may not list", async () => {
    const { client } = other.owner;
    const machine = await createService(client, "viewer", ["audit:read", "senders:read"]);
    const { id } = await client.api.createSender({ name: "Named", destinationUrlId: await destinationOf(client) });
    const { items: [made] } = await audit(`&SubjectId=${id}`, machine.client);
    expect([made?.subject.name, made?.actor.name]).to.deep.equal(["Named", null]);
  });

  it("names the invalid filter", async () => {
    const wrong = {
      "Type=EventAccepted": "Type", "type=TenantRenamed": "type: must be spelt Type", "SubjectId=x": "SubjectId",
      "ActorId=": "ActorId", "CorrelationId=a%20b": "CorrelationId: must be visible ASCII characters without spaces",
      [`CorrelationId=${"x".repeat(129)}`]: "CorrelationId", "From=yesterday": "From", "To=2026-13-01": "To",
      "CpOrd=position": "CpOrd",
    };
    for (const [query, word] of Object.entries(wrong)) {
      const { status, text } = await one.admin.client.get(`/api/v1/audit?${query}`);
      expect([status, text.slice(0, word.length)], query).to.deep.equal([400, word]);
    }
  });
});
