import { expect } from "chai";
import { createService, openAccount, openIngest, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { goodRequests, type GoodRequest, type Scene } from "../support/good-requests.ts";
import { http, type HttpAnswer } from "../support/http.ts";
import { serviceRights } from "../support/rights.ts";

const ranks = ["viewer", "developer", "admin"] as const;
type Rank = (typeof ranks)[number];
const all = [
  "events:read", "events:write", "destinations:read", "destinations:write", "senders:read", "senders:write",
  "users:read", "users:write", "audit:read", "portal:write",
] as const;
type Scope = (typeof all)[number];

interface Row {
  readonly operationId: string;
  /** Undefined where no service account may. */
  readonly least: Rank | undefined;
  readonly scope: Scope | "any" | null;
  readonly status: number;
}

const rows = serviceRights.split("\n").filter(Boolean).map((line): Row => {
  const [operationId = "", least = "", scope = "-", status = "403"] = line.split("|").map((cell) => cell.trim());
  return {
    operationId,
    least: ranks.find((rank) => rank === least.toLowerCase()),
    scope: scope === "any" ? scope : all.find((known) => known === scope) ?? null,
    status: Number(status),
  };
});
const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
const operationOf = ({ operationId }: Row) =>
  operations.find(({ operation }) => operation.operationId === operationId) ?? expect.fail(`no ${operationId}`);
/** Whether keys with a write scope can do it, too. */
const isImplied = (scope: string, needed: Row["scope"]) => scope === needed?.replace(/:read$/, ":write");
const nobodys = "0193a1b2-0000-7000-8000-00000000ffff";

describe("service accounts, by role and scope", () => {
  let engines: SharedEngines;
  let api: TestApi;
  let scene: Scene;
  let foreign: Client;
  const keys = new Map<string, Client>();
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    scene = { api, clock: engines.clock, one, other, ingest: await openIngest(one.owner.client, one.tenantId) };
    foreign = (await createService(other.owner.client, "admin")).client;
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** The key of an account of the first tenant. */
  const keyOf = async (role: Rank, scopes?: readonly Scope[]): Promise<Client> => {
    const name = `${role} ${scopes?.join() ?? ""}`;
    const { client } = keys.has(name) ? { client: keys.get(name)! }
      : await createService(scene.one.owner.client, role, scopes && [...scopes]);
    keys.set(name, client);
    return client;
  };

  /** The answer to a good request, or to one about `id`; fails if a refusal wrote to the log. */
  const ask = async (row: Row, client: Client, id?: string): Promise<HttpAnswer> => {
    const { path, method } = operationOf(row);
    const good: GoodRequest = await goodRequests[row.operationId]!(scene);
    const params = { ...good.params, ...(id !== undefined && { id }) };
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: keyof typeof params) => params[name] ?? "");
    const head = await engines.store.head();
    const { json } = good;
    const headers = { authorization: `Bearer ${client.token ?? ""}` };
    const answer = await http(method, api.url + filled + (good.query ?? ""), { headers, ...(json && { json }) });
    if (answer.status >= 400) expect(await engines.store.head(), "a refusal wrote something").to.equal(head);
    return answer;
  };

  it("are described with the role and the scope of every operation that needs a token", () => {
    const needing = operations.filter(({ operation: { security } }) =>
      security.some((scheme) => "accessToken" in scheme || "sessionCookie" in scheme));
    expect(rows.map(({ operationId }) => operationId))
      .to.have.members(needing.map(({ operation }) => operation.operationId));
    for (const row of rows) {
      const { description = "", "x-access": access } = operationOf(row).operation;
      expect(access?.serviceRole?.toLowerCase(), row.operationId).to.equal(row.least);
      expect(access?.scope, row.operationId).to.equal(row.scope);
      const named = description.match(/Role: .*Service keys: .*\.$/)?.[0] ?? expect.fail(row.operationId);
      if (row.scope !== null && row.scope !== "any") expect(named).to.include(`\`${row.scope}\``);
      if (row.least === undefined) expect(named).to.include("users only");
    }
  });

  for (const row of rows) {
    const { operationId, least, scope, status } = row;

    it(operationId, async () => {
      const hasId = operationOf(row).path.includes("{id}");
      for (const role of ranks) {
        const may = least !== undefined && ranks.indexOf(role) >= ranks.indexOf(least);
        const answer = await ask(row, await keyOf(role));
        expect(answer.status, `a ${role}: ${answer.text}`).to.equal(may ? status : 403);
        if (!may && least === undefined) expect(answer.text).to.include("only a user");
      }
      const own = least ?? "admin";
      const others = all.filter((one) => one !== scope && !isImplied(one, scope));
      const lacking = await ask(row, await keyOf(own, others));
      expect(lacking.status, `all other scopes: ${lacking.text}`).to.equal(scope === "any" ? status : 403);
      if (scope !== null && scope !== "any") {
        expect(lacking.text).to.include(scope);
        for (const enough of all.filter((one) => one === scope || isImplied(one, scope))) {
          const answer = await ask(row, await keyOf(own, [enough]));
          expect(answer.status, `${enough}: ${answer.text}`).to.equal(status);
        }
      }
      if (!hasId) return;
      const isTenants = operationId === "getTenant";
      for (const client of [await keyOf(own), await keyOf(own, others)]) {
        expect((await ask(row, client, nobodys)).status, "nowhere").to.equal(404);
      }
      expect((await ask(row, foreign)).status, "another's").to.equal(isTenants ? 404 : 403);
    });
  }

  it("keep the audit and histories from the stream and from an export of keys that lack audit:read", async () => {
    const { token = "" } = await keyOf("viewer", ["events:read"]);
    const statusOf = async (path: string) => {
      const ended = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${api.url}${path}`, { headers, signal: ended.signal });
      const text = answer.ok ? "" : await answer.text();
      ended.abort();
      return [answer.status, text];
    };
    const lacking = [403, "the service key lacks the scope audit:read"];
    expect(await statusOf("/api/v1/stream?Kinds=event,audit")).to.deep.equal(lacking);
    expect(await statusOf("/api/v1/events/export?Include=history")).to.deep.equal(lacking);
    for (const path of ["/api/v1/stream", "/api/v1/stream?Kinds=event,circuit", "/api/v1/events/export"]) {
      expect(await statusOf(path)).to.deep.equal([200, ""]);
    }
  });

  it("401 and 400 come before the scope", async () => {
    const client = await keyOf("admin", ["portal:write"]);
    for (const row of rows.filter(({ least, scope }) => least !== undefined && scope !== "any")) {
      const { path, method, operation } = operationOf(row);
      const { params = {} } = await goodRequests[row.operationId]!(scene);
      const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? "");
      const query = operation.parameters.find((one) => one.in === "query")?.name;
      if (operation.requestBody === undefined && query === undefined) continue;
      const bad = operation.requestBody ? { path: filled, json: [] } : { path: `${filled}?${query}=` };
      const asked = (token: string) =>
        http(method, api.url + bad.path, { headers: { authorization: `Bearer ${token}` }, ...("json" in bad && bad) });
      expect((await asked(`rsk_${"A".repeat(43)}`)).status, row.operationId).to.equal(401);
      expect((await asked(client.token ?? "")).status, row.operationId).to.equal(400);
    }
  });
});
