import { expect } from "chai";
import { openAccount, openIngest, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { badTokens } from "../support/bad-tokens.ts";
import { Belongings } from "../support/belongings.ts";
import { apiDocument } from "../support/document.ts";
import { givenUpEvent, type Scene } from "../support/good-requests.ts";
import { http, type HttpAnswer } from "../support/http.ts";
import { aboutNobodys, freshAsker, requestOf, type Asker, type MatrixRequest } from "../support/matrix-requests.ts";
import { userRights } from "../support/rights.ts";

/** The same for ingest. Its caller is an API key: the key, the tenant in the path, the token in the path. */
const ingestMatrix = `
API key             | tenant    | ingest token                     | status
own                 | own       | own destination                  | 202
own                 | own       | own sender                       | 202
none                | own       | own destination                  | 401
unknown             | own       | own destination                  | 401
re-spelled          | own       | own destination                  | 401
expired             | own       | own destination                  | 401
deleted             | own       | own destination                  | 401
an access token     | own       | own destination                  | 401
as a bearer token   | own       | own destination                  | 401
none                | nowhere   | nobody's                         | 401
own                 | own       | without a known prefix           | 400
own                 | nowhere   | without a known prefix           | 400
own                 | nowhere   | own destination                  | 404
own                 | no UUID   | own destination                  | 404
own                 | another's | another's destination            | 403
own                 | another's | own destination                  | 403
another's           | own       | own destination                  | 403
another's           | own       | own sender                       | 403
another's           | own       | nobody's                         | 403
own                 | own       | nobody's                         | 404
own                 | own       | regenerated since                | 404
own                 | own       | deleted destination              | 404
own                 | own       | deleted sender                   | 404
own                 | own       | another's destination            | 403
own                 | own       | another's sender                 | 403
own                 | own       | inactive destination             | 422
own                 | own       | inactive sender                  | 422
own                 | own       | own sender, its destination gone | 422
`;

interface Row {
  readonly name: string;
  readonly operationId: string;
  readonly nobody: number;
  readonly own: readonly number[];
  readonly foreign: readonly number[];
  readonly nowhere: readonly number[];
}

const cellsOf = (text: string) => text.split("\n").filter((line) => /\|.*\d/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));
const numbers = (text = "") => text.split(/\s+/).filter(Boolean).map(Number);
const rows = cellsOf(userRights).map(([name = "", nobody, own, foreign, nowhere]): Row => ({
  name, operationId: name.split(" ")[0] ?? "", nobody: Number(nobody),
  own: numbers(own), foreign: numbers(foreign), nowhere: numbers(nowhere),
}));
const roles = ["viewer", "developer", "admin", "owner"] as const;

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, security, requestBody }]) => ({
    operationId, path, method: method.toUpperCase(), security: Object.keys(security[0] ?? {})[0],
    hasBody: requestBody !== undefined,
  })));
const operationOf = (row: Pick<Row, "operationId">) =>
  operations.find(({ operationId }) => operationId === row.operationId) ?? expect.fail(`no ${row.operationId}`);

describe("S5 the access matrix", () => {
  let engines: SharedEngines;
  let api: TestApi;
  let scene: Scene;
  let belongings: Belongings;
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    scene = { api, clock: engines.clock, one, other, ingest: await openIngest(one.owner.client, one.tenantId) };
    belongings = new Belongings(engines.store, [one, other]);
    await Promise.all([one, other].map((account) => belongings.plant(account)));
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Sends a row's request; fails if a refusal wrote to the log. */
  const ask = async (
    row: Row, request: MatrixRequest, client: Client | string, body?: string,
  ): Promise<HttpAnswer> => {
    const { path, method } = operationOf(row);
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => request.params?.[name] ?? "");
    const authorization = typeof client === "string" ? client : `Bearer ${client.token ?? ""}`;
    // The request that succeeds with a cookie: the matrix is about access tokens.
    const { cookie: _, ...headers } = request.headers ?? {};
    const head = await engines.store.head();
    const answer = await http(method, api.url + filled + (request.query ?? ""), {
      headers: { ...headers, ...(authorization === "" ? {} : { authorization }) },
      ...(body === undefined ? request.json && { json: request.json } : { body }),
    });
    if (answer.status >= 400) expect(await engines.store.head(), "a refusal wrote something").to.equal(head);
    return answer;
  };
  const askAs = async (row: Row, asker: Asker, change = (request: MatrixRequest) => request, body?: string) => {
    const answer = await ask(row, change(await requestOf(row.name, scene, asker)), asker.client, body);
    belongings.seen(asker.account, row.name, answer);
    return answer.status;
  };
  const askers = new Map<string, Asker>();
  /** A caller for a row: the same for all rows that leave it as it is. */
  const askerFor = async (row: Row, account: Account, role: (typeof roles)[number]) => {
    if (/ its(elf| own)|^logout$|Session$/.test(row.name)) return freshAsker(account, role);
    const key = `${account.tenantId} ${role}`;
    const asker = askers.get(key) ?? await freshAsker(account, role);
    askers.set(key, asker);
    return asker;
  };
  const statusesOf = async (row: Row, account: Account, change?: (request: MatrixRequest) => MatrixRequest) => {
    const statuses: number[] = [];
    for (const role of roles) statuses.push(await askAs(row, await askerFor(row, account, role), change));
    return statuses;
  };
  const nobodys = async (row: Row) => requestOf(row.name, scene, await askerFor(row, scene.one, "owner"));

  it("covers every operation, and no other", () => {
    const known = operations.map(({ operationId }) => operationId).filter((id) => id !== "ingest");
    expect([...new Set(rows.map(({ operationId }) => operationId))]).to.have.members(known);
    for (const row of rows) {
      const { security, path } = operationOf(row);
      const [open, hasId] = [security === undefined, path.includes("{id}")];
      expect(row.own.length, row.name).to.equal(open && !hasId ? 0 : 4);
      const ofOthers = [row.foreign.length, row.nowhere.length];
      if (hasId && !/ its(elf| own)/.test(row.name)) expect(ofOthers, row.name).to.deep.equal([4, 4]);
      if (!open) expect(row.nobody, row.name).to.equal(401);
    }
    expect(new Set(rows.map(({ name }) => name)).size).to.equal(rows.length);
  });

  for (const row of rows) {
    it(row.name, async () => {
      const { status, headers } = await ask(row, await nobodys(row), "");
      expect(status, "nobody").to.equal(row.nobody);
      expect(headers.get("www-authenticate"), "nobody").to.equal(status === 401 ? "Bearer" : null);
      if (row.own.length > 0) expect(await statusesOf(row, scene.one), "own").to.deep.equal(row.own);
      if (row.foreign.length > 0) expect(await statusesOf(row, scene.other), "another's").to.deep.equal(row.foreign);
      if (row.nowhere.length > 0) {
        expect(await statusesOf(row, scene.one, aboutNobodys), "nowhere").to.deep.equal(row.nowhere);
      }
    });
  }

  it("me names the operations that succeed for its caller's role on some record", async () => {
    for (const [at, role] of roles.entries()) {
      const { operations: named } = await (await freshAsker(scene.one, role)).client.api.getMe();
      const succeeding = rows.filter(({ nobody, own }) => (own[at] ?? nobody) < 300);
      // The operation that needs only a cookie.
      const ids = new Set(["renewSession", ...succeeding.map(({ operationId }) => operationId)]);
      expect(named, role).to.have.members([...ids]);
    }
  });

  it("401 comes first, then 400 for the body, before an answer tells whether a thing exists", async () => {
    for (const row of rows) {
      const { hasBody, security } = operationOf(row);
      if (!hasBody) continue;
      const request = await nobodys(row);
      if (security !== undefined) expect((await ask(row, request, "", "no json")).status, row.name).to.equal(401);
      const viewer = await askerFor(row, scene.other, "viewer");
      for (const change of [(same: MatrixRequest) => same, aboutNobodys]) {
        expect(await askAs(row, viewer, change, "no json"), row.name).to.equal(400);
      }
    }
  });

  it("an id may be in capitals, and an invalid id gives 404", async () => {
    const owner = await freshAsker(scene.one, "owner");
    const viewer = await freshAsker(scene.one, "viewer");
    for (const row of rows.filter(({ name, operationId }) => name === operationId)) {
      if (!operationOf(row).path.includes("{id}")) continue;
      const request = await requestOf(row.name, scene, owner);
      const id = request.params?.["id"] ?? "";
      for (const none of ["x", "..%2f", "%", "%zz", `${id}%00`, "1".repeat(2_000)]) {
        const answer = await ask(row, { ...request, params: { ...request.params, id: none } }, viewer.client);
        expect(answer.status, `${row.name} ${none}`).to.equal(404);
      }
      const answer = await ask(row, { ...request, params: { ...request.params, id: id.toUpperCase() } }, owner.client);
      expect(answer.status, row.name).to.equal(row.own[3]);
      expect(answer.text, row.name).not.to.include(id.toUpperCase());
    }
  });

  it("S7 bad tokens authenticate nobody, on every operation", async () => {
    const tokens = await badTokens(api, scene);
    expect(tokens.length).to.be.greaterThan(20);
    for (const row of rows.filter(({ name, operationId }) => name === operationId && name !== "login")) {
      const once = await nobodys(row);
      for (const { kind, authorization } of tokens) {
        // An operation without authentication uses up the thing it is about.
        const answer = await ask(row, row.nobody === 401 ? once : await nobodys(row), authorization);
        expect(answer.status, `${row.name} with a token that is ${kind}`).to.equal(row.nobody);
      }
    }
  }).timeout(60_000);

  describe("ingest", () => {
    for (const [key = "", tenant = "", token = "", status] of cellsOf(ingestMatrix)) {
      it(`API key: ${key}; tenant: ${tenant}; token: ${token} -> ${status ?? ""}`, async () => {
        const answer = await belongings.ingest(scene, engines.clock, { key, tenant, token });
        expect(answer.status).to.equal(Number(status));
        expect(answer.headers.get("www-authenticate")).to.equal(status === "401" ? "ApiKey" : null);
        belongings.seen(scene.one, `ingest ${key} ${tenant} ${token}`, answer);
      });
    }
  });

  it("bulk replays and purges leave another tenant's events unchanged", async () => {
    const { one, other, ingest } = scene;
    const id = await givenUpEvent(scene);
    const named = { destinationUrlId: ingest.destinationId };
    const replayed = await other.owner.client.post("/api/v1/events/replay", named);
    expect(replayed.json).to.deep.equal({ matched: 0, replayed: 0 });
    expect((await other.owner.client.post("/api/v1/events/purge", named)).status).to.equal(204);
    expect((await one.owner.client.get(`/api/v1/events/${id}`)).json["status"]).to.equal("CriticalFailure");
  });

  describe("in all answers", () => {
    it("there is no byte of another tenant", async () => {
      const leaks = await belongings.leaks();
      expect(leaks).to.deep.equal([]);
      expect(belongings.answers).to.be.greaterThan(rows.length * 4);
      // The search would find leaks: it finds the same values in the answers to their owner.
      const lists = [
        "listUsers", "listEvents", "listSenders", "listApiKeys", "listInvites", "listDestinations",
        "listTenantHistory", "listPurgeHistory", "listReplayHistory", "listCancellationHistory", "listSenderHistory",
        "listApiKeyHistory",
        "listInviteHistory", "listAudit",
      ];
      for (const place of lists) {
        expect(await belongings.owned(place), place).to.be.greaterThan(0);
      }
    });
  });
});
