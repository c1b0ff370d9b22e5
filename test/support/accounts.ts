import { http, type HttpAnswer, type HttpOptions } from "./http.ts";

export const password = "correct horse battery";

/** Someone who talks to the API, with a token or without. */
export class Client {
  readonly url: string;
  readonly token: string | undefined;

  constructor(url: string, token?: string) {
    this.url = url;
    this.token = token;
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
  const answer = await http("POST", `${url}/api/v1/auth/login`, { json: { email, password: secret } });
  if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`);
  return new Client(url, answer.json["accessToken"] as string);
}

/** Creates a tenant and logs its Owner in. */
export async function createTenant(url: string, settings: object = {}) {
  const name = unique("Tenant");
  const ownerEmail = freshEmail();
  const answer = await http("POST", `${url}/api/v1/tenants`, {
    json: { name, ownerEmail, ownerPassword: password, ...settings },
  });
  if (answer.status !== 201) throw new Error(`tenant: ${answer.status} ${answer.text}`);
  const { tenantId, webhookSecret, ownerUserId } = answer.json as Record<string, string>;
  const owner: Person = { id: ownerUserId ?? "", email: ownerEmail, client: await login(url, ownerEmail) };
  return { tenantId: tenantId ?? "", name, webhookSecret: webhookSecret ?? "", owner };
}

/** Creates a user of a role on behalf of an Owner, and logs it in. */
export async function createUser(by: Client, role: keyof typeof roleCodes): Promise<Person> {
  const email = freshEmail();
  const answer = await by.post("/api/v1/users", { email, password, role: roleCodes[role] });
  if (answer.status !== 201) throw new Error(`user: ${answer.status} ${answer.text}`);
  return { id: answer.json["id"] as string, email, client: await login(by.url, email) };
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
export async function openIngest(owner: Client, tenantId: string) {
  const destination = (await owner.post("/api/v1/destinations", { url: "https://receiver.example/hook" })).json;
  const key = (await owner.post("/api/v1/api-keys", { name: "producer" })).json;
  const ingestToken = destination["ingestToken"] as string;
  return {
    destinationId: destination["id"] as string,
    ingestToken,
    apiKeyId: key["id"] as string,
    apiKey: key["apiKey"] as string,
    path: `/api/v1/ingest/${tenantId}/${ingestToken}`,
  };
}
