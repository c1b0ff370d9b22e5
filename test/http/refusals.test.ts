import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { openAccount, openIngest, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped, type HttpOptions } from "../support/http.ts";
import { eventually } from "../support/relay.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("refused ingest requests", (freshEngines) => {
  let engines: SharedEngines;
  let here: TestApi;
  let there: TestApi;
  let one: Account;
  let other: Account;
  before(async () => {
    engines = await freshEngines();
    const start = () => startApi(engines, { maxBodyBytes: 4_096 });
    [here, there] = [await start(), await start()];
  });
  beforeEach(async () => {
    // Requests of a test are to be of one minute.
    engines.clock.advance(60_000 - engines.clock.now() % 60_000);
    [one, other] = await Promise.all([openAccount(here.url), openAccount(here.url)]);
  });
  after(() => Promise.all([here.close(), there.close()]));
  afterEach(() => expect([...here.errors, ...there.errors]).to.deep.equal([]));

  const open = ({ owner, tenantId }: Account) => openIngest(owner.client, tenantId);
  const post = (path: string, apiKey: string | null, options: HttpOptions = { json: {} }, url = here.url) =>
    http("POST", url + path, {
      ...options, headers: { ...(apiKey === null ? {} : { "x-api-key": apiKey }), ...options.headers },
    });
  const groups = async ({ viewer: { client } }: Account, query = "", by: Client = client) => {
    const answer = await by.get(`/api/v1/refusals${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "refusal-page") as {
      readonly total: number;
      readonly items: Record<string, unknown>[];
      readonly nextCursor: string | null;
    };
  };
  const only = async (account: Account) => {
    const { total, items } = await groups(account);
    expect(total, JSON.stringify(items)).to.equal(1);
    const { firstAt, lastAt, ...rest } = items[0]!;
    expect(Date.parse(String(lastAt)) - Date.parse(String(firstAt))).to.be.within(0, 60_000);
    return rest;
  };
  const unknown = { destinationUrlId: null, senderId: null, apiKeyId: null };

  describe("are counted under status, reason, and their known key, sender and destination", () => {
    type Mine = Awaited<ReturnType<typeof openIngest>>;
    type Sent = readonly [path: string, apiKey: string | null, options?: HttpOptions];
    type Known = "none" | "key" | "all";
    const cases: Readonly<Record<string, readonly [number, Known, (mine: Mine) => Sent]>> = {
      "without a key": [401, "none", ({ path }) => [path, null]],
      "with a wrong key": [401, "none", ({ path }) => [path, "rk_wrong"]],
      "to a token of no known form": [400, "key", ({ path, apiKey }) => [path.replace("dst_", "abc_"), apiKey]],
      "to an unknown token": [404, "key", ({ path, apiKey }) => [`${path}x`, apiKey]],
      "with a bad idempotency key": [400, "all", ({ path, apiKey }) =>
        [path, apiKey, { json: {}, headers: { "x-idempotency-key": "a".repeat(256) } }]],
      "of another type": [415, "all", ({ path, apiKey }) =>
        [path, apiKey, { body: "{}", headers: { "content-type": "text/plain" } }]],
      "too large": [413, "all", ({ path, apiKey }) => [path, apiKey, { json: { a: "x".repeat(5_000) } }]],
      "that are no JSON": [400, "all", ({ path, apiKey }) => [path, apiKey, { body: "{" }]],
    };
    for (const [what, [status, known, sent]] of Object.entries(cases)) {
      it(`${what}: ${status}`, async () => {
        const mine = await open(one);
        const [path, apiKey, options] = sent(mine);
        const answers = [await post(path, apiKey, options), await post(path, apiKey, options)];
        for (const answer of answers) expect(answer.status, answer.text).to.equal(status);
        const { apiKeyId, destinationId: destinationUrlId } = mine;
        expect(await only(one)).to.deep.equal({
          ...unknown,
          ...(known !== "none" && { apiKeyId }),
          ...(known === "all" && { destinationUrlId }),
          status, reason: answers[1]!.text, count: 2, requestId: answers[1]!.headers.get("x-request-id"),
        });
        expect((await groups(other)).total).to.equal(0);
      });
    }

    it("to an inactive destination, and through a sender: 422, 400", async () => {
      const { developer: { client: { api } } } = one;
      const mine = await open(one);
      const sender = await api.createSender({
        name: "Shop", destinationUrlId: mine.destinationId, mapping: { language: "jmespath", expression: "lines" },
      });
      const path = `/api/v1/ingest/${one.tenantId}/${sender.ingestToken}`;
      expect((await post(path, mine.apiKey)).status).to.equal(400);
      await api.updateDestination({ id: mine.destinationId }, { status: "inactive" });
      expect((await post(mine.path, mine.apiKey)).status).to.equal(422);
      const { items } = await groups(one);
      const known = { destinationUrlId: mine.destinationId, apiKeyId: mine.apiKeyId, count: 1 };
      expect(items[0]).to.include({ ...known, senderId: null, status: 422, reason: "the destination is inactive" });
      expect(items[1]).to.include({ ...known, senderId: sender.id, status: 400 });
      for (const [query, status] of [
        [`SenderId=${sender.id.toUpperCase()}`, 400], ["Status=422", 422], ["Status=400", 400],
      ] as const) {
        expect((await groups(one, `?${query}`)).items.map((item) => item["status"]), query).to.deep.equal([status]);
      }
      expect((await groups(one, `?DestinationUrlId=${mine.destinationId}`)).total).to.equal(2);
      expect((await groups(one, `?DestinationUrlId=${nowhere}`)).total).to.equal(0);
    });

    it("with another tenant's key or token: for the tenant of the path, without the other's ids", async () => {
      const [mine, theirs] = [await open(one), await open(other)];
      expect((await post(mine.path, theirs.apiKey)).status).to.equal(403);
      expect(await only(one)).to.deep.include({ ...unknown, status: 403 });
      const [foreign] = [`/api/v1/ingest/${other.tenantId}/${mine.ingestToken}`];
      expect((await post(foreign, theirs.apiKey)).status).to.equal(403);
      expect(await only(other)).to.deep.include({ ...unknown, status: 403, apiKeyId: theirs.apiKeyId });
    });

    it("that come in pieces, and so on the other way in", async () => {
      const { path, apiKey, apiKeyId, destinationId: destinationUrlId } = await open(one);
      const sent = request(here.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": apiKey, "transfer-encoding": "chunked" },
      });
      sent.write("[");
      sent.end("]");
      const [answer] = (await once(sent, "response")) as [Parameters<typeof text>[0] & { readonly statusCode: number }];
      expect(answer.statusCode).to.equal(400);
      expect(await only(one)).to.include({
        status: 400, reason: await text(answer), count: 1, apiKeyId, destinationUrlId, senderId: null,
      });
    });
  });

  it("to an unknown tenant, and requests that were accepted or repeated, are not counted", async () => {
    const { path, apiKey, ingestToken } = await open(one);
    expect((await post(`/api/v1/ingest/${nowhere}/${ingestToken}`, apiKey)).status).to.equal(404);
    const keyed = { json: {}, headers: { "x-idempotency-key": "1" } };
    expect((await post(path, apiKey, keyed)).status).to.equal(202);
    expect((await post(path, apiKey, keyed)).status).to.equal(200);
    expect((await groups(one)).total).to.equal(0);
  });

  it("never show the key or token that was sent", async () => {
    const { path, apiKey, ingestToken } = await open(one);
    await post(path, "rk_secret-of-mine");
    await post(path.replace(ingestToken, "dst_guess-of-mine"), apiKey);
    await post(path.replace("dst_", "abc_"), apiKey);
    const { text } = await one.viewer.client.get("/api/v1/refusals");
    for (const secret of ["of-mine", apiKey, ingestToken.slice(4)]) expect(text).not.to.include(secret);
  });

  it("are seen at once in the process that refused them, and soon in another, added up", async () => {
    const { path } = await open(one);
    await post(path, null);
    expect(await only(one)).to.include({ count: 1 });
    for (let n = 0; n < 3; n += 1) await post(path, null, { json: {} }, there.url);
    await eventually(
      () => groups(one).then(({ items }) => items.reduce((sum, { count }) => sum + Number(count), 0)),
      (count) => count === 4,
    );
  });

  it("come newest first, in pages, by time, those of each minute for themselves", async () => {
    const { path } = await open(one);
    for (let minute = 0; minute < 3; minute += 1) {
      for (let n = 0; n <= minute; n += 1) await post(path, null);
      engines.clock.advance(60_000);
    }
    const counts = async (query: string) => (await groups(one, query)).items.map(({ count }) => count);
    expect(await counts("")).to.deep.equal([3, 2, 1]);
    expect(await counts("?TpOrd=Asc")).to.deep.equal([1, 2, 3]);
    expect(await groups(one, "?Qt=2&Pg=2")).to.deep.include({ total: 3 });
    expect(await counts("?Qt=2&Pg=2")).to.deep.equal([1]);
    const { nextCursor } = await groups(one, "?Qt=2");
    expect(await counts(`?Qt=2&Cursor=${String(nextCursor)}`)).to.deep.equal([1]);
    const [, { firstAt: from, lastAt: to } = {}] = (await groups(one)).items;
    expect(await counts(`?From=${String(to)}`)).to.deep.equal([3, 2]);
    expect(await counts(`?To=${String(from)}`)).to.deep.equal([2, 1]);
    expect(await counts(`?From=${String(to)}&To=${String(to)}`)).to.deep.equal([2]);
  });

  it("are not found with filters that are not valid", async () => {
    for (const query of ["Status=500", "Status=x", "From=x", "To=x", "SenderId=x", "DestinationUrlId=1", "CpOrd=id"]) {
      const answer = await one.viewer.client.get(`/api/v1/refusals?${query}`);
      expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, query.split("=")[0]]);
    }
  });
});
