import { timestamp } from "../../src/kernel/domain/time.ts";
import { openIngest, roleCodes, unique, type Account } from "./accounts.ts";
import type { SharedEngines, TestClock } from "./api-engines.ts";
import type { Scene } from "./good-requests.ts";
import { http, type HttpAnswer } from "./http.ts";

interface Seen {
  readonly tenantId: string;
  readonly place: string;
  readonly text: string;
}

interface Planted {
  readonly texts: readonly string[];
  readonly ingest: Awaited<ReturnType<typeof openIngest>>;
  readonly sender: { readonly id: string; readonly ingestToken: string };
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const nowhere = "0193a1b2-0000-7000-8000-00000000ffff";

/** The ids in each tenant's log entries and the texts planted for it, to be searched for in answers to others. */
export class Belongings {
  readonly #store: SharedEngines["store"];
  readonly #accounts: readonly Account[];
  readonly #planted = new Map<string, Planted>();
  readonly #seen: Seen[] = [];

  constructor(store: SharedEngines["store"], accounts: readonly Account[]) {
    this.#store = store;
    this.#accounts = accounts;
  }

  /** Gives a tenant one thing of every kind, with texts in it that nobody else has. */
  async plant(account: Account): Promise<void> {
    const { client } = account.owner;
    const ingest = await openIngest(client, account.tenantId);
    const [key, sender, payload, header, email] = ["key", "sender", "payload", "header", "email"].map(unique) as
      [string, string, string, string, string];
    const url = `https://${unique("receiver")}.example/hook`;
    const made = await client.post("/api/v1/destinations", {
      url, authType: "ApiKey", credentials: { headerName: header, value: "a value" },
    });
    await client.post("/api/v1/api-keys", { name: key });
    const invited = `${email}@example.com`;
    await client.post("/api/v1/invites", { email: invited, role: roleCodes.viewer });
    const mapping = { language: "jmespath", expression: `{canary: '${unique("mapping")}'}` };
    const through = { name: sender, destinationUrlId: ingest.destinationId, mapping };
    const answer = (await client.post("/api/v1/senders", through)).json as { id: string; ingestToken: string };
    await http("POST", client.url + ingest.path, {
      json: { payload }, headers: { "x-api-key": ingest.apiKey, "x-idempotency-key": unique("idempotency") },
    });
    const texts = [
      account.name, account.webhookSecret, ingest.apiKey, ingest.ingestToken, answer.ingestToken, key, sender, payload,
      invited, url, String(made.json["ingestToken"]), mapping.expression.slice(10, -2),
      ...[account.owner, account.admin, account.developer, account.viewer].map((person) => person.email),
    ];
    this.#planted.set(account.tenantId, { texts, ingest, sender: answer });
  }

  /** How many answers were looked at. */
  get answers(): number {
    return this.#seen.length;
  }

  /** Remembers an answer to a caller of a tenant. */
  seen({ tenantId }: Account, place: string, { text, headers }: HttpAnswer): void {
    const { "x-request-id": _own, ...others } = Object.fromEntries(headers);
    this.#seen.push({ tenantId, place, text: text + JSON.stringify(others) });
  }

  /** Where an answer held something of another tenant: the place and the text. */
  async leaks(): Promise<string[]> {
    return this.#found((owner, asker) => owner !== asker);
  }

  /** How many times answers at a place held an id or a text of the caller's own tenant. */
  async owned(place: string): Promise<number> {
    const own = await this.#found((owner, asker) => owner === asker);
    return own.filter((found) => found.startsWith(`${place}:`)).length;
  }

  /** Posts an event as the words of the ingest matrix say. */
  async ingest(
    { api, one, other }: Scene,
    clock: TestClock,
    { key, tenant, token }: Readonly<Record<"key" | "tenant" | "token", string>>,
  ): Promise<HttpAnswer> {
    const [own, foreign] = [this.#of(one), this.#of(other)];
    const { client } = one.owner;
    const fresh = await openIngest(client, one.tenantId);
    const sender = (await client.post("/api/v1/senders", { name: "Shop", destinationUrlId: fresh.destinationId }))
      .json as { id: string; ingestToken: string };
    const [destinationPath, senderPath] =
      [`/api/v1/destinations/${fresh.destinationId}`, `/api/v1/senders/${sender.id}`];
    const keys: Record<string, () => Promise<Record<string, string>>> = {
      own: async () => ({ "x-api-key": own.ingest.apiKey }),
      none: async () => ({}),
      unknown: async () => ({ "x-api-key": `rk_${"A".repeat(43)}` }),
      "re-spelled": async () => ({ "x-api-key": `${own.ingest.apiKey}=` }),
      expired: async () => {
        const soon = timestamp(clock.now() + 60_000);
        const made = await client.post("/api/v1/api-keys", { name: "short", expiresAt: soon });
        clock.advance(61_000);
        return { "x-api-key": String(made.json["apiKey"]) };
      },
      deleted: async () => {
        await client.delete(`/api/v1/api-keys/${fresh.apiKeyId}`);
        return { "x-api-key": fresh.apiKey };
      },
      "an access token": async () => ({ "x-api-key": client.token ?? "" }),
      "as a bearer token": async () => ({ authorization: `Bearer ${own.ingest.apiKey}` }),
      "another's": async () => ({ "x-api-key": foreign.ingest.apiKey }),
    };
    const tokens: Record<string, () => Promise<string>> = {
      "own destination": async () => own.ingest.ingestToken,
      "own sender": async () => own.sender.ingestToken,
      "another's destination": async () => foreign.ingest.ingestToken,
      "another's sender": async () => foreign.sender.ingestToken,
      "nobody's": async () => `dst_${"A".repeat(43)}`,
      "without a known prefix": async () => own.ingest.ingestToken.slice(4),
      "regenerated since": async () => {
        await client.post(`${destinationPath}/ingest-token`);
        return fresh.ingestToken;
      },
      "deleted destination": async () => {
        await client.delete(destinationPath);
        return fresh.ingestToken;
      },
      "deleted sender": async () => {
        await client.delete(senderPath);
        return sender.ingestToken;
      },
      "inactive destination": async () => {
        await client.patch(destinationPath, { status: "inactive" });
        return fresh.ingestToken;
      },
      "inactive sender": async () => {
        await client.patch(senderPath, { status: "inactive" });
        return sender.ingestToken;
      },
      "own sender, its destination gone": async () => {
        await client.delete(destinationPath);
        return sender.ingestToken;
      },
    };
    const tenants: Record<string, string> = {
      own: one.tenantId, "another's": other.tenantId, nowhere, "no UUID": "tenant",
    };
    const headers = await chosen(keys, key)();
    const path = `/api/v1/ingest/${chosen(tenants, tenant)}/${await chosen(tokens, token)()}`;
    return http("POST", api.url + path, { json: {}, headers });
  }

  #of({ tenantId }: Account): Planted {
    return this.#planted.get(tenantId) ?? fail(`nothing planted for ${tenantId}`);
  }

  async #found(counts: (owner: string, asker: string) => boolean): Promise<string[]> {
    const { entries } = await this.#store.readLog("", 1_000_000);
    const owners = new Map<string, string>();
    for (const entry of entries) {
      const { tenantId } = (entry as { data?: { tenantId?: string } }).data ?? {};
      if (tenantId === undefined) continue;
      const { stream, data } = entry as { stream: string; data: object };
      // The tenant of the first entry with an id has made it: requests of others may name it.
      for (const [id] of (stream + JSON.stringify(data)).matchAll(uuids)) if (!owners.has(id)) owners.set(id, tenantId);
    }
    const counted = (owner: string | undefined, asker: string) => owner !== undefined && counts(owner, asker);
    return this.#seen.flatMap(({ tenantId, place, text }) => [
      ...[...text.matchAll(uuids)].filter(([id]) => counted(owners.get(id), tenantId)).map(([id]) => `${place}: ${id}`),
      ...this.#accounts.filter((account) => counts(account.tenantId, tenantId))
        .flatMap((account) => this.#of(account).texts.filter((planted) => text.includes(planted)))
        .map((planted) => `${place}: ${planted}`),
    ]);
  }
}

function chosen<Value>(choices: Readonly<Record<string, Value>>, word: string): Value {
  return choices[word] ?? fail(`the ingest matrix says "${word}"`);
}

function fail(message: string): never {
  throw new Error(message);
}
