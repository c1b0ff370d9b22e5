import { createHash } from "node:crypto";
import { expect } from "chai";
import { recordUse, apiKeys } from "../../src/features/keys/api-keys/decide.ts";
import { invites } from "../../src/features/people/invites/decide.ts";
import { purges, decide, noPurges } from "../../src/features/purges/facts.ts";
import { senders } from "../../src/features/senders/facts.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { Reservations } from "../../src/features/tenants/reservations/reservations.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { Client, freshEmail, openAccount, openIngest, password, roleCodes, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook";

interface Item {
  readonly type: string;
  readonly revision: number;
  readonly position: string;
  readonly time: string;
  readonly actor: object;
  readonly correlationId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describeOnEngines("histories", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
  });
  beforeEach(async () => {
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const historyOf = async (path: string, { client } = one.admin) => {
    const answer = await client.get(`/api/v1/${path}/history?Qt=100`);
    return shaped(answer, "history-page") as unknown as { readonly total: number; readonly items: readonly Item[] };
  };
  /** Type, actor's id and data of each fact, without the fields that all facts of the history share. */
  const told = (items: readonly Item[], ...common: readonly string[]) =>
    items.map(({ type, actor, data }) => {
      const own = Object.entries(data).filter(([name]) => !["tenantId", "at", ...common].includes(name));
      return [type, (actor as { id?: string }).id, Object.fromEntries(own)];
    });
  const created = async (resource: string, json: object) => {
    const answer = await one.developer.client.post(`/api/v1/${resource}`, json);
    expect(answer.status, answer.text).to.equal(201);
    return { id: String(answer.json["id"]), json: answer.json };
  };

  it("of tenants name the actor of each change to settings, the secret and users", async () => {
    const { owner, admin, developer, viewer } = one;
    const fingerprint = (secret: unknown) => createHash("sha256").update(String(secret)).digest("hex").slice(0, 16);
    const { items: before } = await historyOf(`tenants/${one.tenantId}`);
    expect(before.map(({ type }) => type)).to.deep.equal(["TenantCreated", ...Array<string>(4).fill("UserCreated")]);
    expect(told(before.slice(0, 2))).to.deep.equal([
      ["TenantCreated", undefined, {
        name: one.name, maxTrys: 10, circuitBreakerTimer: 300, webhookSecretFingerprint: fingerprint(one.webhookSecret),
      }],
      ["UserCreated", undefined, { userId: owner.id, role: "Owner" }],
    ]);
    const path = `/api/v1/tenants/${one.tenantId}`;
    const name = `${one.name} again`;
    await owner.client.patch(path, { name, maxTrys: 5, retentionDays: 30 });
    const secret = await developer.client.post(`${path}/webhook-secret`);
    await admin.client.patch(`/api/v1/users/${viewer.id}`, { role: roleCodes.developer });
    await admin.client.patch(`/api/v1/users/${developer.id}`, { status: 1 });
    await viewer.client.patch(`/api/v1/users/${viewer.id}`, { email: freshEmail() });
    await owner.client.patch(`/api/v1/users/${admin.id}`, { password: "another good password" });
    await owner.client.delete(`/api/v1/users/${developer.id}`);
    const { total, items } = await historyOf(`tenants/${one.tenantId}`, owner);
    const later = items.slice(before.length);
    expect(told(later)).to.deep.equal([
      ["TenantRenamed", owner.id, { name }],
      ["TenantDeliveryPolicyChanged", owner.id, { maxTrys: 5, circuitBreakerTimer: 300 }],
      ["TenantRetentionChanged", owner.id, { retentionDays: 30 }],
      ["WebhookSecretRegenerated", developer.id, {
        webhookSecretFingerprint: fingerprint(secret.json["webhookSecret"]),
      }],
      ["UserRoleChanged", admin.id, { userId: viewer.id, from: "Viewer", role: "Developer", status: "Active" }],
      ["UserStatusChanged", admin.id, { userId: developer.id, from: "Active", status: "Inactive", role: "Developer" }],
      ["UserPasswordChanged", owner.id, { userId: admin.id }],
      ["UserDeleted", owner.id, { userId: developer.id, role: "Developer", status: "Inactive" }],
      ["UserForgotten", owner.id, { userId: developer.id }],
    ]);
    expect(items.map(({ revision }) => revision)).to.deep.equal([...items.keys()]);
    expect(total).to.equal(items.length);
    const { state } = await api.world.aggregates.current(tenants, one.tenantId);
    for (const hidden of [
      state?.webhookSecret, state?.dataKey, state?.nameHash, one.webhookSecret,
      secret.json["webhookSecret"], state?.users.get(owner.id)?.email,
      state?.users.get(owner.id)?.emailHash, state?.users.get(owner.id)?.passwordHash,
    ]) expect(JSON.stringify(items)).not.to.include(String(hidden));
  });

  it("of purges show the actor, the filter and the time of completion", async () => {
    const { aggregates, clock } = api.world;
    const ingest = await openIngest(one.owner.client, one.tenantId);
    const answer = await http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": ingest.apiKey } });
    await new Deliveries(api.world).succeed(String(answer.json["eventId"]));
    await one.admin.client.post("/api/v1/events/purge", { before: "2020-01-01", status: "Succeeded" });
    const service = { actor: { type: "service", part: "retention" } as const, correlationId: "own", causationId: null };
    const before = timestamp(clock.now() + 60_000);
    await api.services.commands.purge.purgeOlder(one.tenantId, before, service);
    const { state } = await aggregates.current(purges, one.tenantId);
    const [first = "", second = ""] = state?.underWay.map(({ id }) => id) ?? [];
    const { tenantId } = one;
    const complete = { type: "CompletePurge", tenantId, purgeId: first, at: timestamp(clock.now()) } as const;
    await aggregates.change(purges, tenantId, service, (current) => decide(current ?? noPurges, complete));
    const { items } = await historyOf(`tenants/${tenantId}/purges`);
    const whole = { destinationId: null };
    expect(told(items)).to.deep.equal([
      [
        "EventsPurged", one.admin.id,
        { ...whole, purgeId: first, before: "2020-01-01T00:00:00.000Z", status: "Succeeded", matched: 0 },
      ],
      ["EventsPurged", undefined, { ...whole, purgeId: second, before, status: null, matched: 1 }],
      ["PurgeCompleted", undefined, { purgeId: first }],
    ]);
    expect(items.map(({ actor }) => (actor as { part?: string }).part)).to.deep.equal([
      undefined, "retention", "retention",
    ]);
  });

  it("of bulk replays show the actor, the filter and the outcome", async () => {
    const { developer, owner, tenantId } = one;
    const ingest = await openIngest(owner.client, tenantId);
    const deleted = await openIngest(owner.client, tenantId);
    const deliveries = new Deliveries(api.world);
    for (const { path, apiKey } of [ingest, ingest, deleted]) {
      const answer = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
      await deliveries.fail(String(answer.json["eventId"]), 1);
    }
    await owner.client.delete(`/api/v1/destinations/${deleted.destinationId}`);
    const replay = async (json: object) => {
      const answer = await developer.client.post("/api/v1/events/replay", json);
      expect(answer.status, answer.text).to.equal(200);
    };
    const { destinationId } = ingest;
    await replay({ dryRun: true });
    await replay({ destinationUrlId: destinationId, to: "2000-01-01" });
    const times = { from: "2000-01-01", to: "2100-01-01T01:00:00+01:00" };
    await replay({ destinationUrlId: destinationId.toUpperCase(), ...times });
    await replay({});
    const { items } = await historyOf(`tenants/${tenantId}/replays`, one.viewer);
    const [first, , second] = items.map(({ data }) => data["replayId"]);
    expect(first).not.to.equal(second);
    const by = developer.id;
    const filter = { destinationId, from: "2000-01-01T00:00:00.000Z", to: "2100-01-01T00:00:00.000Z" };
    expect(told(items)).to.deep.equal([
      ["ReplayOrdered", by, { replayId: first, ...filter, matched: 2 }],
      ["ReplayCompleted", by, { replayId: first, replayed: 2 }],
      ["ReplayOrdered", by, { replayId: second, destinationId: null, from: null, to: null, matched: 1 }],
      ["ReplayCompleted", by, { replayId: second, replayed: 0 }],
    ]);
  });

  it("of tenants can be read by every role of the tenant, and by no other tenant", async () => {
    const tenant = `/api/v1/tenants/${one.tenantId}`;
    const path = `${tenant}/history`;
    const ofActs = ["purges", "replays", "cancellations"].map((acts) => `${tenant}/${acts}/history`);
    for (const each of [path, ...ofActs]) {
      for (const { client } of [one.viewer, one.developer, one.admin, one.owner]) {
        expect((await client.get(each)).status).to.equal(200);
      }
      expect((await new Client(api.url).get(each)).status).to.equal(401);
      for (const { client } of [other.owner, other.viewer]) expect((await client.get(each)).status).to.equal(403);
      expect((await one.admin.client.get(`${each}?Qt=0`)).status).to.equal(400);
    }
    const newest = (await one.admin.client.get(`${path}?Qt=2&TpOrd=desc`)).json as { total: number; items: Item[] };
    expect([newest.total, newest.items.map(({ revision }) => revision)]).to.deep.equal([5, [4, 3]]);
  });

  it("of senders show each change and its actor, after a deletion too", async () => {
    const { id: destinationId } = await created("destinations", { url });
    const { id: next } = await created("destinations", { url });
    const mapping = { language: "jmespath", expression: "{order: id}" };
    const { id, json } = await created("senders", { name: "Shop", destinationUrlId: destinationId });
    const path = `/api/v1/senders/${id}`;
    const { admin, developer, viewer } = one;
    await admin.client.patch(path, { name: "Stall", destinationUrlId: next, mapping });
    await admin.client.patch(path, { mapping: null, status: "inactive" });
    await admin.client.patch(path, { status: "active" });
    const renewed = await admin.client.post(`${path}/ingest-token`);
    const { state } = await api.world.aggregates.current(senders, id);
    await developer.client.delete(path);
    const { items } = await historyOf(`senders/${id}`, viewer);
    expect(told(items, "senderId")).to.deep.equal([
      ["SenderCreated", developer.id, { name: "Shop", destinationId, mapping: null }],
      ["SenderRenamed", admin.id, { name: "Stall" }],
      ["SenderDestinationChanged", admin.id, { destinationId: next }],
      ["SenderMappingChanged", admin.id, { mapping }],
      ["SenderMappingChanged", admin.id, { mapping: null }],
      ["SenderDeactivated", admin.id, {}],
      ["SenderActivated", admin.id, {}],
      ["SenderIngestTokenRegenerated", admin.id, {}],
      ["SenderDeleted", developer.id, {}],
    ]);
    for (const hidden of [state?.ingestTokenHash, json["ingestToken"], renewed.json["ingestToken"]]) {
      expect(JSON.stringify(items)).not.to.include(String(hidden));
    }
  });

  it("of API keys name their issuer and deleter, and show the last use before a purge", async () => {
    const { developer, owner, viewer } = one;
    const ingest = await openIngest(developer.client, one.tenantId);
    const usedAt = timestamp(engines.clock.now());
    const purger = { actor: { type: "service", part: "purger" } as const, correlationId: "test", causationId: null };
    await recordUse(api.world, ingest.apiKeyId, usedAt, purger);
    await owner.client.delete(`/api/v1/api-keys/${ingest.apiKeyId}`);
    const { state } = await api.world.aggregates.current(apiKeys, ingest.apiKeyId);
    const { items } = await historyOf(`api-keys/${ingest.apiKeyId}`, viewer);
    const last4 = ingest.apiKey.slice(-4);
    expect(told(items, "keyId")).to.deep.equal([
      ["ApiKeyIssued", developer.id, { name: "producer", prefix: "rk_", last4, expiresAt: null }],
      ["ApiKeyUsed", undefined, { usedAt }],
      ["ApiKeyRevoked", owner.id, {}],
    ]);
    for (const hidden of [state?.keyHash, ingest.apiKey]) {
      expect(JSON.stringify(items)).not.to.include(String(hidden));
    }
  });

  it("of invites name the inviter and the revoker, and show the use", async () => {
    const { admin, owner, viewer } = one;
    const invite = async () => {
      const made = await admin.client.post("/api/v1/invites", { email: freshEmail(), role: roleCodes.developer });
      return made.json as { id: string; inviteToken: string; email: string; expiresAt: string };
    };
    const [used, revoked] = [await invite(), await invite()];
    const came = await http("POST", `${api.url}/api/v1/invites/${used.inviteToken}/register`, { json: { password } });
    expect(came.json["id"]).to.equal(used.id);
    await owner.client.delete(`/api/v1/invites/${revoked.id}`);
    const histories = [await historyOf(`invites/${used.id}`, viewer), await historyOf(`invites/${revoked.id}`, viewer)];
    expect(histories.map(({ items }) => told(items, "inviteId"))).to.deep.equal([
      [
        ["InviteCreated", admin.id, { role: "Developer", expiresAt: used.expiresAt }],
        ["InviteAccepted", undefined, {}],
      ],
      [
        ["InviteCreated", admin.id, { role: "Developer", expiresAt: revoked.expiresAt }],
        ["InviteRevoked", owner.id, {}],
      ],
    ]);
    const { state } = await api.world.aggregates.current(invites, used.id);
    for (const hidden of [state?.tokenHash, state?.email, used.email, used.inviteToken]) {
      expect(JSON.stringify(histories)).not.to.include(String(hidden));
    }
  });

  it("of senders, API keys and invites can be read by every role of the tenant, and by no other tenant", async () => {
    const { id: destinationId } = await created("destinations", { url });
    const invited = await one.admin.client.post("/api/v1/invites", { email: freshEmail(), role: roleCodes.viewer });
    const paths = {
      senders: (await created("senders", { name: "Shop", destinationUrlId: destinationId })).id,
      "api-keys": (await created("api-keys", { name: "key" })).id,
      invites: String(invited.json["id"]),
    };
    for (const [resource, id] of Object.entries(paths)) {
      const path = (named: string) => `/api/v1/${resource}/${named}/history`;
      for (const { client } of [one.viewer, one.developer, one.admin, one.owner]) {
        expect((await client.get(path(id))).status).to.equal(200);
      }
      expect((await one.viewer.client.get(path(id.toUpperCase()))).json["total"]).to.equal(1);
      expect((await new Client(api.url).get(path(id))).status).to.equal(401);
      expect((await other.owner.client.get(path(id))).status).to.equal(403);
      for (const none of [nowhere, "x"]) expect((await one.owner.client.get(path(none))).status).to.equal(404);
    }
  });

  it("name the request that wrote each fact", async () => {
    const as = (id: string) => ({ headers: { "x-request-id": id } });
    const { client } = one.owner;
    const ingest = await openIngest(client, one.tenantId);
    const { id: senderId } = await created("senders", { name: "Shop", destinationUrlId: ingest.destinationId });
    const accepted = await http("POST", api.url + ingest.path, {
      json: {}, headers: { "x-api-key": ingest.apiKey, "x-request-id": "order-1" },
    });
    const eventId = String(accepted.json["eventId"]);
    await new Deliveries(api.world).fail(eventId, 1);
    const asked: readonly (readonly [string, string, object?])[] = [
      ["PATCH", `tenants/${one.tenantId}`, { maxTrys: 3 }],
      ["PATCH", `destinations/${ingest.destinationId}`, { serverRateLimit: 3 }],
      ["PATCH", `senders/${senderId}`, { name: "Stall" }],
      ["DELETE", `api-keys/${ingest.apiKeyId}`],
      ["POST", `events/${eventId}/replay`],
    ];
    for (const [index, [method, path, json]] of asked.entries()) {
      const answer = await client.call(method, `/api/v1/${path}`, { ...(json && { json }), ...as(`CHG-${index}`) });
      expect(answer.status, path).to.be.lessThan(300);
      const { items } = await historyOf(path.replace("/replay", ""));
      expect(items.at(-1)?.correlationId, path).to.equal(`CHG-${index}`);
    }
    const { items } = await historyOf(`events/${eventId}`);
    const requests = items.map(({ type, correlationId }) => [type, correlationId]);
    expect(requests).to.deep.include.members([["EventAccepted", "order-1"], ["EventReplayed", "CHG-4"]]);
  });

  it("do not show the request of another tenant that took over an abandoned reservation", async () => {
    const reservations = new Reservations(api.world);
    const taker = { actor: { type: "user", id: other.owner.id, role: "Owner" } as const, causationId: null };
    const claim = (tenantId: string) => ({
      stream: streams.email(`hash-of-${tenantId}`), holder: { tenantId, userId: nowhere }, taken: "taken",
    });
    const forsaken = claim(one.tenantId);
    await reservations.during([forsaken], { ...taker, correlationId: "left" }, async () => undefined);
    engines.clock.advance(31_000);
    const taken = { ...claim(other.tenantId), stream: forsaken.stream };
    await reservations.during([taken], { ...taker, correlationId: "CHG-theirs" }, async () => undefined);
    const { items } = await historyOf(`tenants/${one.tenantId}`);
    const newest = items.at(-1);
    expect([newest?.type, Object.keys(newest?.data ?? {})]).to.deep.equal(["ReservationRefused", ["at"]]);
    expect(newest?.actor).to.deep.equal({ type: "service", part: "reservations" });
    expect(JSON.stringify(newest)).not.to.match(/theirs|hash-of/).and.not.to.include(other.owner.id);
  });
});
