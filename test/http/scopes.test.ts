import { expect } from "chai";
import { createService, openAccount, openIngest, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { goodRequests, type GoodRequest, type Scene } from "../support/good-requests.ts";
import { http, type HttpAnswer } from "../support/http.ts";

/**
 * For every operation that needs a token: the lowest role of a service account, the scope that its key needs, and the
 * status that it then gets about a thing of its own tenant. `-`: a key without scopes. `any`: every key. An operation
 * for users only has neither role nor status.
 */
const table = `
getTenant                 | Viewer    | -                  | 200
listTenantHistory         | Viewer    | audit:read         | 200
listPurgeHistory          | Viewer    | audit:read         | 200
listReplayHistory         | Viewer    | audit:read         | 200
listCancellationHistory   | Viewer    | audit:read         | 200
updateTenant              | Admin     | -                  | 200
getWebhookSecret          | users
regenerateWebhookSecret   | users
expireWebhookSecrets      | users
getSigningSecret          | users
replaceSigningSecret      | users
expireSigningSecrets      | users
removeSigningSecret       | users
verifySignature           | Viewer    | -                  | 200

logout                    | users
renewSession              | users
endSession                | users
changePassword            | users
getMe                     | Viewer    | any                | 200

createUser                | Developer | users:write        | 201
listUsers                 | Viewer    | users:read         | 200
getUser                   | Viewer    | users:read         | 200
updateUser                | Admin     | users:write        | 200
deleteUser                | Admin     | users:write        | 204
createInvite              | Admin     | users:write        | 201
listInvites               | Viewer    | users:read         | 200
listInviteHistory         | Viewer    | audit:read         | 200
revokeInvite              | Admin     | users:write        | 204

createApiKey              | users
listApiKeys               | Viewer    | -                  | 200
listApiKeyHistory         | Viewer    | audit:read         | 200
rotateApiKey              | users
deleteApiKey              | users

createServiceAccount      | users
listServiceAccounts       | Viewer    | -                  | 200
getServiceAccount         | Viewer    | -                  | 200
listServiceAccountHistory | Viewer    | audit:read         | 200
updateServiceAccount      | users
deleteServiceAccount      | users
createServiceKey          | users
listServiceKeys           | Viewer    | -                  | 200
rotateServiceKey          | users
deleteServiceKey          | users

createView                | users
listViews                 | users
updateView                | users
deleteView                | users

createNotificationSubscription | Developer | destinations:write | 201
listNotificationSubscriptions | Viewer | destinations:read | 200
deleteNotificationSubscription | Developer | destinations:write | 204

listAudit                 | Viewer    | audit:read         | 200
getStatistics             | Viewer    | events:read        | 200
replaceSigningKey         | Developer | destinations:write | 200
removeSigningKey          | Developer | destinations:write | 204
testDestination           | Developer | events:write       | 202
searchEvents              | Viewer    | events:read        | 200
exportEvents              | Viewer    | events:read        | 200
followStream              | Viewer    | events:read        | 200
listRefusals              | Viewer    | events:read        | 200

createDestination         | Developer | destinations:write | 201
listDestinations          | Viewer    | destinations:read  | 200
getDestination            | Viewer    | destinations:read  | 200
listDestinationHistory    | Viewer    | audit:read         | 200
listCircuitHistory        | Viewer    | audit:read         | 200
updateDestination         | Developer | destinations:write | 200
deleteDestination         | Developer | destinations:write | 204
regenerateDestinationToken | Developer | destinations:write | 200

createSender              | Developer | senders:write      | 201
listSenders               | Viewer    | senders:read       | 200
getSender                 | Viewer    | senders:read       | 200
listSenderHistory         | Viewer    | audit:read         | 200
updateSender              | Developer | senders:write      | 200
deleteSender              | Developer | senders:write      | 204
regenerateSenderToken     | Developer | senders:write      | 200
testMapping               | Viewer    | senders:read       | 200
tryMapping                | Viewer    | senders:read       | 200
previewMapping            | Viewer    | events:read        | 200

listEvents                | Viewer    | events:read        | 200
lookup                    | Viewer    | any                | 200
countEvents               | Viewer    | events:read        | 200
getEvent                  | Viewer    | events:read        | 200
listAttempts              | Viewer    | events:read        | 200
listEventHistory          | Viewer    | audit:read         | 200
getEventStory             | Viewer    | audit:read         | 200
replayEvent               | Developer | events:write       | 200
resendEvent               | Developer | events:write       | 200
retryEvent                | Developer | events:write       | 200
cancelEvent               | Developer | events:write       | 200
replayEvents              | Developer | events:write       | 200
cancelEvents              | Developer | events:write       | 200
purgeEvents               | Admin     | events:write       | 204
orderReplay               | Developer | events:write       | 202
listIncidents             | Viewer    | audit:read         | 200
getIncident               | Viewer    | audit:read         | 200
listReplays               | Viewer    | events:read        | 200
getReplay                 | Viewer    | events:read        | 200
cancelReplay              | Developer | events:write       | 200
`;

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

const rows = table.split("\n").filter(Boolean).map((line): Row => {
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
