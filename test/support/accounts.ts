import type { RelayClient, Schemas } from "../../packages/client/src/index.ts";
import { relayClient } from "./api-client.ts";
import { http, type HttpAnswer, type HttpOptions } from "./http.ts";

export const password = "correct horse battery";

/** A caller of the API, with a token or without: `api` is for requests that succeed, the methods by path for any. */
export class Client {
  readonly url: string;
  readonly token: string | undefined;
  readonly api: RelayClient;

  constructor(url: string, token?: string) {
    this.url = url;
    this.token = token;
    this.api = relayClient(url, token === undefined ? {} : { token });
  }

  call(method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
    const authorization = this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
    return http(method, this.url + path, { ...options, headers: { ...authorization, ...options.headers } });
  }

  get(path: string): Promise<HttpAnswer> {
    return this.call("GET", path);
  }

  post(path: string, json?: unknown): Promise<HttpAnswer> {
    return this.call("POST", path, { json });
  }

  patch(path: string, json: unknown): Promise<HttpAnswer> {
    return this.call("PATCH", path, { json });
  }

  delete(path: string): Promise<HttpAnswer> {
    return this.call("DELETE", path);
  }

  /** The same person at another process. */
  at(url: string): Client {
    return new Client(url, this.token);
  }

  /** Another token, or none, at the same process. */
  with(token?: string): Client {
    return new Client(this.url, token);
  }
}

/** A signed-in user. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly client: Client;
}

/** A tenant with a person of every role. */
export interface Account {
  readonly tenantId: string;
  readonly name: string;
  readonly webhookSecret: string;
  readonly owner: Person;
  readonly admin: Person;
  readonly developer: Person;
  readonly viewer: Person;
}

export const roleCodes = { developer: 0, admin: 1, owner: 10, viewer: 20 } as const;

let count = 0;

/** A text no other test uses. */
export function unique(prefix: string): string {
  count += 1;
  return `${prefix}-${process.pid}-${count}`;
}

/** A fresh email address. */
export function freshEmail(): string {
  return `${unique("someone")}@example.com`;
}

/** Logs in; fails unless that works. */
export async function login(url: string, email: string, secret = password): Promise<Client> {
  const { accessToken } = await relayClient(url).login({ email, password: secret });
  return new Client(url, accessToken);
}

/** Signs in as a browser does; the headers with which one of the relay's own pages then sends requests. */
export async function signIn(
  url: string, email: string, origin?: string,
): Promise<Readonly<Record<"cookie" | "sec-fetch-site", string>>> {
  const answer = await http("POST", `${url}/api/v1/auth/session`, {
    json: { email, password }, headers: origin === undefined ? {} : { origin },
  });
  const [cookie = ""] = (answer.headers.getSetCookie()[0] ?? "").split(";");
  return { cookie, "sec-fetch-site": "same-origin" };
}

/** Creates a tenant and logs its Owner in. */
export async function createTenant(url: string, settings: Partial<Schemas["CreateTenantRequest"]> = {}) {
  const name = unique("Tenant");
  const ownerEmail = freshEmail();
  const { tenantId, webhookSecret, ownerUserId } =
    await relayClient(url).createTenant({ name, ownerEmail, ownerPassword: password, ...settings });
  const owner: Person = { id: ownerUserId, email: ownerEmail, client: await login(url, ownerEmail) };
  return { tenantId, name, webhookSecret, owner };
}

/** Creates a user of a role on behalf of an Owner, and logs it in. */
export async function createUser(by: Client, role: keyof typeof roleCodes): Promise<Person> {
  const email = freshEmail();
  const { id } = await by.api.createUser({ email, password, role: roleCodes[role] });
  return { id, email, client: await login(by.url, email) };
}

/** A service account with a key of its own. */
export interface Service {
  readonly id: string;
  readonly keyId: string;
  readonly client: Client;
}

/** Creates a service account of a role on behalf of an Owner, and a key for it. */
export async function createService(
  by: Client, role: Exclude<keyof typeof roleCodes, "owner">, scopes?: Schemas["CreateServiceKeyRequest"]["scopes"],
): Promise<Service> {
  const { id } = await by.api.createServiceAccount({ name: unique("machine"), role: roleCodes[role] });
  const { id: keyId, key } = await by.api.createServiceKey({ id }, { name: "key", ...(scopes && { scopes }) });
  return { id, keyId, client: new Client(by.url, key) };
}

/** A tenant with a person of every role. */
export async function openAccount(url: string): Promise<Account> {
  const tenant = await createTenant(url);
  const [admin, developer, viewer] = (await Promise.all(
    (["admin", "developer", "viewer"] as const).map((role) => createUser(tenant.owner.client, role)),
  )) as [Person, Person, Person];
  return { ...tenant, admin, developer, viewer };
}

/** A destination with its token, and a producer's key for it. */
export async function openIngest({ api }: Client, tenantId: string) {
  const { id: destinationId, ingestToken } = await api.createDestination({ url: "https://receiver.example/hook" });
  const { id: apiKeyId, apiKey } = await api.createApiKey({ name: "producer" });
  return { destinationId, ingestToken, apiKeyId, apiKey, path: `/api/v1/ingest/${tenantId}/${ingestToken}` };
}
