import { ApiClient, text, type Json } from "../support/api-client.ts";
import type { Receiver } from "../support/receiver.ts";
import { eventReaches, eventually } from "../support/relay.ts";
import type { Post } from "./answers.ts";

export const password = "correct horse battery";

/** The settings for the history: one retry at once, the next a day later. */
export const historySettings = {
  RELAY_RETRY_SCHEDULE: "100ms,24h", RELAY_RETRY_JITTER: "0", RELAY_PASSWORD_COST: "4",
  RELAY_LIMIT_TENANT_CREATION: "off", RELAY_LIMIT_INVITE_REGISTRATION: "off", RELAY_ACCESS_TOKEN_TTL: "1d",
} as const;

interface Target {
  readonly id: string;
  readonly ingest: string;
}

/** A tenant as its Owner sees it. */
class Tenant {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly owner: ApiClient;
  readonly #posts: Post[] = [];
  #apiKey = "";

  private constructor(id: string, email: string, token: string, owner: ApiClient) {
    this.id = id;
    this.email = email;
    this.token = token;
    this.owner = owner;
  }

  static async open(url: string, name: string, settings: Json): Promise<Tenant> {
    const email = `owner@${name.toLowerCase()}.example`;
    const anyone = new ApiClient(url);
    const fields = { name, ownerEmail: email, ownerPassword: password, ...settings };
    const made = await anyone.post("/api/v1/tenants", fields);
    const token = await loginOf(url, email);
    const tenant = new Tenant(text(made, "tenantId"), email, token, clientOf(url, token));
    tenant.#apiKey = text(await tenant.owner.post("/api/v1/api-keys", { name: "producer" }), "apiKey");
    return tenant;
  }

  /** Every post with an idempotency key. */
  get posts(): readonly Post[] {
    return this.#posts;
  }

  async destination(fields: Json): Promise<Target> {
    const made = await this.owner.post("/api/v1/destinations", fields);
    return { id: text(made, "id"), ingest: this.path(text(made, "ingestToken")) };
  }

  async sender(fields: Json): Promise<Target> {
    const made = await this.owner.post("/api/v1/senders", fields);
    return { id: text(made, "id"), ingest: this.path(text(made, "ingestToken")) };
  }

  /** The ingest address of a token. */
  path(ingestToken: string): string {
    return `/api/v1/ingest/${this.id}/${ingestToken}`;
  }

  /** Posts an event, under a key unless it is null; resolves to the id of the event. */
  async post(
    path: string, idempotencyKey: string | null, body: Json = { order: 7, price: 19.9 }, apiKey = this.#apiKey,
  ): Promise<string> {
    const headers = idempotencyKey === null ? {} : { "x-idempotency-key": idempotencyKey };
    const producer = new ApiClient(this.owner.url, { "x-api-key": apiKey });
    const eventId = text(await producer.post(path, body, headers), "eventId");
    if (idempotencyKey !== null) this.#posts.push({ path, apiKey, idempotencyKey, body });
    return eventId;
  }

  async reaches(eventId: string, status: string): Promise<void> {
    await eventReaches(this.owner, eventId, status);
  }

  async becomes(destinationId: string, status: string): Promise<void> {
    const destination = () => this.owner.get(`/api/v1/destinations/${destinationId}`);
    await eventually(destination, (answer) => answer["status"] === status);
  }
}

/** The results of a history: tokens of its users, its posts, and the tenant to erase. */
export interface History {
  readonly acme: { readonly tenantId: string; readonly owner: string; readonly viewer: string; readonly ended: string };
  readonly globex: { readonly tenantId: string; readonly owner: string };
  /** The tenant that an operator erases later. */
  readonly initech: { readonly tenantId: string; readonly owner: string };
  /** Posts under idempotency keys. */
  readonly posts: readonly Post[];
  /** An event of Acme that a purge took. */
  readonly purged: string;
}

/** An API client with a token. */
export function clientOf(url: string, token: string): ApiClient {
  return new ApiClient(url, { authorization: `Bearer ${token}` });
}

/** A new token of a user. */
export async function loginOf(url: string, email: string): Promise<string> {
  return text(await new ApiClient(url).post("/api/v1/auth/login", { email, password }), "accessToken");
}

/** Makes all kinds of changes through the API of a relay with {@link historySettings}. */
export async function makeHistory(url: string, receiver: Receiver): Promise<History> {
  receiver.on("/token", () => ({ body: JSON.stringify({ access_token: "issued", expires_in: 3_600 }) }));
  for (const path of ["/broken", "/dark", "/late", "/flaky"]) receiver.on(path, () => ({ status: 500, body: "down" }));
  const acme = await Tenant.open(url, "Acme", { maxTrys: 2, circuitBreakerTimer: 1 });
  const globex = await Tenant.open(url, "Globex", {});
  const initech = await Tenant.open(url, "Initech", {});

  const viewer = await people(acme, url);
  await keysAndInvites(acme, url);
  await destinations(acme, receiver);
  await senders(acme, receiver);
  await circuits(acme, receiver);
  const purged = await purge(acme, receiver);
  await waiting(globex, receiver);
  await ofTheErased(initech, receiver);
  await settings(acme);
  const ended = await loginOf(url, acme.email);
  await clientOf(url, ended).post("/api/v1/auth/logout", {});
  await suspended(acme, receiver);
  return {
    acme: { tenantId: acme.id, owner: acme.token, viewer, ended },
    globex: { tenantId: globex.id, owner: globex.token },
    initech: { tenantId: initech.id, owner: initech.token },
    posts: [...acme.posts, ...globex.posts],
    purged,
  };
}

/** Users with changes, and one deleted user; returns the Viewer's token. */
async function people({ owner }: Tenant, url: string): Promise<string> {
  const user = async (name: string, role: number) =>
    text(await owner.post("/api/v1/users", { email: `${name}@acme.example`, password, role }), "id");
  const admin = await user("admin", 0);
  const idle = await user("idle", 20);
  await user("viewer", 20);
  const leaving = await user("leaving", 20);
  await owner.patch(`/api/v1/users/${admin}`, { role: 1, password: "another long password" });
  await owner.patch(`/api/v1/users/${idle}`, { status: 1 });
  await owner.patch(`/api/v1/users/${idle}`, { status: 0 });
  await owner.patch(`/api/v1/users/${idle}`, { status: 1 });
  await owner.patch(`/api/v1/users/${leaving}`, { email: "left@acme.example" });
  await owner.delete(`/api/v1/users/${leaving}`);
  return loginOf(url, "viewer@acme.example");
}

async function keysAndInvites({ owner }: Tenant, url: string): Promise<void> {
  await owner.post("/api/v1/api-keys", { name: "never used", expiresAt: "2099-01-01T00:00:00.000Z" });
  const invite = (name: string) => owner.post("/api/v1/invites", { email: `${name}@acme.example`, role: 0 });
  await invite("open");
  await owner.delete(`/api/v1/invites/${text(await invite("revoked"), "id")}`);
  const accepted = text(await invite("accepted"), "inviteToken");
  await new ApiClient(url).post(`/api/v1/invites/${accepted}/register`, { password });
}

/** A destination with each kind of credentials, and changed, deactivated and deleted ones. */
async function destinations(tenant: Tenant, receiver: Receiver): Promise<void> {
  const { owner } = tenant;
  const to = (path: string) => receiver.url(path);
  const credentials: Readonly<Record<string, Json>> = {
    ApiKey: { headerName: "X-Key", value: "acme's key" },
    BearerToken: { token: "acmes-token" },
    JwtBearer: { tokenEndpoint: to("/token"), clientId: "acme", clientSecret: "acme's secret", scope: "hooks" },
    BasicAuth: { username: "acme", password: "acme's password" },
  };
  for (const [authType, secrets] of Object.entries(credentials)) {
    const { ingest } = await tenant.destination({ url: to(`/${authType}`), authType, credentials: secrets });
    await tenant.reaches(await tenant.post(ingest, `with ${authType}`), "Succeeded");
  }

  const bearer = { authType: "BearerToken", credentials: credentials["BearerToken"] };
  const changed = await tenant.destination({ url: to("/before"), ...bearer });
  const path = `/api/v1/destinations/${changed.id}`;
  await owner.patch(path, { url: to("/after"), serverRateLimit: 3 });
  await owner.patch(path, { authType: "ApiKey", credentials: credentials["ApiKey"] });
  await owner.patch(path, { removeAuth: true });
  const { ingestToken } = await owner.post(`${path}/ingest-token`, {});
  const ingest = tenant.path(String(ingestToken));
  await tenant.reaches(await tenant.post(ingest, "to a new token"), "Succeeded");

  const key = await owner.post("/api/v1/api-keys", { name: "revoked" });
  await tenant.reaches(await tenant.post(ingest, null, { by: "another key" }, text(key, "apiKey")), "Succeeded");
  await owner.delete(`/api/v1/api-keys/${text(key, "id")}`);

  const rested = await tenant.destination({ url: to("/rested") });
  await owner.patch(`/api/v1/destinations/${rested.id}`, { status: "inactive" });
  await owner.patch(`/api/v1/destinations/${rested.id}`, { status: "active" });
  const inactive = await tenant.destination({ url: to("/inactive") });
  await owner.patch(`/api/v1/destinations/${inactive.id}`, { status: "inactive" });
}

async function senders(tenant: Tenant, receiver: Receiver): Promise<void> {
  const { owner } = tenant;
  const { id: destinationUrlId } = await tenant.destination({ url: receiver.url("/mapped") });
  const { id: other } = await tenant.destination({ url: receiver.url("/other") });
  const mapping = { language: "jmespath", expression: "{order: order, cents: price}" };
  const mapped = await tenant.sender({ name: "shop", destinationUrlId, mapping });
  await tenant.reaches(await tenant.post(mapped.ingest, "mapped"), "Succeeded");
  const path = `/api/v1/senders/${mapped.id}`;
  await owner.patch(path, { name: "web shop", mapping: { ...mapping, expression: "{id: order}" } });
  await owner.patch(path, { destinationUrlId: other });
  await tenant.reaches(await tenant.post(mapped.ingest, "mapped otherwise"), "Succeeded");
  const { ingestToken } = await owner.post(`${path}/ingest-token`, {});
  await tenant.reaches(await tenant.post(tenant.path(String(ingestToken)), "mapped, to a new token"), "Succeeded");
  const rested = await tenant.sender({ name: "rested", destinationUrlId });
  await owner.patch(`/api/v1/senders/${rested.id}`, { status: "inactive" });
  await owner.patch(`/api/v1/senders/${rested.id}`, { status: "active" });
  await owner.patch(`/api/v1/senders/${rested.id}`, { status: "inactive" });
  const deleted = await tenant.sender({ name: "deleted", destinationUrlId });
  await owner.delete(`/api/v1/senders/${deleted.id}`);
}

/** A circuit that opens, holds an event and closes; events that are exhausted, then replayed, alone and all at once. */
async function circuits(tenant: Tenant, receiver: Receiver): Promise<void> {
  const flaky = await tenant.destination({ url: receiver.url("/flaky") });
  const held = await Promise.all(["first", "second"].map((key) => tenant.post(flaky.ingest, `held ${key}`)));
  await tenant.becomes(flaky.id, "Suspended");
  receiver.on("/flaky", () => ({ body: "thanks" }));
  for (const eventId of held) await tenant.reaches(eventId, "Succeeded");
  await tenant.becomes(flaky.id, "Active");

  const broken = await tenant.destination({ url: receiver.url("/broken") });
  const exhausted: string[] = [];
  for (const key of ["exhausted", "replayed", "replayed with all"]) {
    exhausted.push(await tenant.post(broken.ingest, key));
    await tenant.reaches(exhausted.at(-1)!, "CriticalFailure");
    await tenant.becomes(broken.id, "Active");
  }
  receiver.on("/broken", () => ({ status: 201, body: '{"id": 1}', headers: { "content-type": "application/json" } }));
  const [, alone, withAll] = exhausted as [string, string, string];
  await tenant.owner.post(`/api/v1/events/${alone}/replay`, {});
  await tenant.reaches(alone, "Succeeded");
  const { acceptedAt } = await tenant.owner.get(`/api/v1/events/${withAll}`);
  await tenant.owner.post("/api/v1/events/replay", { destinationUrlId: broken.id, from: acceptedAt });
  await tenant.reaches(withAll, "Succeeded");
}

/** An event that is purged; returns its id. */
async function purge(tenant: Tenant, receiver: Receiver): Promise<string> {
  const { id, ingest } = await tenant.destination({ url: receiver.url("/purged") });
  const eventId = await tenant.post(ingest, null);
  await tenant.reaches(eventId, "Succeeded");
  await tenant.owner.post("/api/v1/events/purge", { destinationUrlId: id });
  return eventId;
}

/** Events waiting for a retry a day later: of a destination, of a deleted one, and a cancelled event. */
async function waiting(tenant: Tenant, receiver: Receiver): Promise<void> {
  const late = await tenant.destination({ url: receiver.url("/late") });
  const failedTwice = async ({ ingest }: Target, key: string) => {
    const eventId = await tenant.post(ingest, key);
    const event = () => tenant.owner.get(`/api/v1/events/${eventId}`);
    await eventually(event, (answer) => answer["status"] === "WaitingRetry" && answer["currentRetryCount"] === 2);
    return eventId;
  };
  await failedTwice(late, "waits");
  await tenant.owner.post(`/api/v1/events/${await failedTwice(late, "cancelled")}/cancel`, {});
  const deleted = await tenant.destination({ url: receiver.url("/late") });
  const dropped = await failedTwice(deleted, "dropped");
  await tenant.owner.delete(`/api/v1/destinations/${deleted.id}`);
  await tenant.reaches(dropped, "Cancelled");
  const unreachable = await tenant.destination({ url: "https://169.254.1.1.nip.invalid/hook" });
  await failedTwice(unreachable, "unreachable");
}

async function ofTheErased(tenant: Tenant, receiver: Receiver): Promise<void> {
  const { ingest } = await tenant.destination({ url: receiver.url("/initech") });
  await tenant.reaches(await tenant.post(ingest, "erased"), "Succeeded");
}

async function settings({ id, owner }: Tenant): Promise<void> {
  await owner.patch(`/api/v1/tenants/${id}`, { name: "Acme Corporation", retentionDays: 90 });
  await owner.post(`/api/v1/tenants/${id}/webhook-secret`, {});
}

/** A destination that stays suspended for an hour, with events that are held. */
async function suspended(tenant: Tenant, receiver: Receiver): Promise<void> {
  await tenant.owner.patch(`/api/v1/tenants/${tenant.id}`, { circuitBreakerTimer: 3_600 });
  const { id, ingest } = await tenant.destination({ url: receiver.url("/dark") });
  await Promise.all(["held in the dark", "held in the dark, too"].map((key) => tenant.post(ingest, key)));
  await tenant.becomes(id, "Suspended");
}
