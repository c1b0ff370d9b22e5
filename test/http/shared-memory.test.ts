import { once } from "node:events";
import { get, request, type ClientRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { openAccount, openIngest, password, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { ampleMemory } from "../support/shared-memory.ts";

const maxBodyBytes = 262_144;
const patienceMs = 5_000;

describe("memory shared by requests", function () {
  this.timeout(30_000);
  let engines: InMemoryEngines;
  /** The clock of requests that wait for memory: it stands still. */
  let clock: ManualClock;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  let others: Awaited<ReturnType<typeof openIngest>>;
  /** Requests that hold memory or wait for it; ended after the test. */
  const open: ClientRequest[] = [];

  before(async () => {
    engines = await inMemoryEngines();
    clock = new ManualClock();
    // Room for one large page each of two tenants, or four large bodies; for one large body each of two networks.
    const memory = ampleMemory(clock, { tenants: 2 * 1024 * 1024, networks: 2 * maxBodyBytes });
    api = await startApi(engines, { memory, trustedProxies: 1 });
    one = await openAccount(api.url);
    other = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
    others = await openIngest(other.owner.client, other.tenantId);
    for (const { path, apiKey } of [ingest, others]) {
      for (let n = 0; n < 80; n += 1) {
        const answer = await http("POST", api.url + path, { json: large(n), headers: { "x-api-key": apiKey } });
        expect(answer.status).to.equal(202);
      }
    }
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(async () => {
    for (const sent of open.splice(0)) await gone(sent);
    expect(api.errors).to.deep.equal([]);
  });

  const large = (n: number) => ({ n, text: "x".repeat(200_000) });
  const answerOf = async (sent: ClientRequest) => ((await once(sent, "response")) as [IncomingMessage])[0];
  /** Ends a request; resolves once the server has closed its connection. */
  const gone = async (sent: ClientRequest) => {
    const connections = () => new Promise<number>((resolve) => api.server.getConnections((_, count) => resolve(count)));
    const before = await connections();
    if (sent.destroyed) return;
    sent.on("error", () => undefined).destroy();
    while (await connections() >= before) await turn();
  };
  /** Asks for a large page of a tenant, and does not read it. */
  const page = (account: Account) => {
    const headers = { authorization: `Bearer ${account.owner.client.token}` };
    const sent = get(`${api.url}/api/v1/events?Qt=100`, { agent: false, headers });
    open.push(sent);
    return sent;
  };
  /** Sends the head of a request with a large body, which the server asks for once there is memory for it. */
  const begun = (path: string, headers: Record<string, string>) => {
    const described = { "content-type": "application/json", "content-length": maxBodyBytes, expect: "100-continue" };
    const sent = request(api.url + path, { method: "POST", agent: false, headers: { ...headers, ...described } });
    sent.flushHeaders();
    open.push(sent);
    return sent;
  };
  const login = (address: string) => begun("/api/v1/auth/login", { "x-forwarded-for": address });
  const event = ({ path, apiKey }: typeof ingest) => begun(path, { "x-api-key": apiKey });
  /** Fails unless the request still waits after others have been served. */
  const waits = async (sent: ClientRequest) => {
    let settled = false;
    const settle = () => (settled = true);
    sent.once("continue", settle).once("response", settle);
    for (let served = 0; served < 5; served += 1) await one.owner.client.get("/api/v1/users");
    expect(settled).to.equal(false);
  };
  const isRefused = async (sent: ClientRequest) => {
    const answered = answerOf(sent);
    clock.advance(patienceMs);
    const answer = await answered;
    expect(answer.statusCode).to.equal(503);
    expect(answer.headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(await text(answer)).to.equal("too much is asked for or sent at once; try again");
  };

  describe("for answers", () => {
    it("is held by a large page until it is read: the tenant's next page waits, then gets 503", async () => {
      expect((await answerOf(page(one))).statusCode).to.equal(200);
      const next = page(one);
      await waits(next);
      await isRefused(next);
    });

    it("goes to the tenant's next page once the previous client has disconnected", async () => {
      const first = page(one);
      await answerOf(first);
      const next = page(one);
      await waits(next);
      const answered = answerOf(next);
      await gone(first);
      const { items } = JSON.parse(await text(await answered)) as { items: readonly object[] };
      expect(items).to.have.length(80);
    });

    it("is left for another tenant's large page, and for small answers to all", async () => {
      await answerOf(page(one));
      await waits(page(one));
      expect((await answerOf(page(other))).statusCode).to.equal(200);
      for (const path of ["/api/v1/events?Pg=9", "/api/v1/audit", "/api/v1/destinations", "/openapi.json"]) {
        expect((await one.owner.client.get(path)).status, path).to.equal(200);
      }
    });

    it("is needed for a single large event, a duplicate of one, and large pages of every kind", async () => {
      const { items } = (await one.owner.client.get("/api/v1/events?Qt=1")).json as { items: { id: string }[] };
      const id = items[0]?.id;
      const headers = { "x-api-key": ingest.apiKey, "x-idempotency-key": "the same" };
      const post = () => http("POST", api.url + ingest.path, { json: large(0), headers });
      expect((await post()).status).to.equal(202);
      await answerOf(page(one));
      const byKey = "/api/v1/events?IdempotencyKey=the%20same";
      const asked = [`/api/v1/events/${id}`, `/api/v1/events/${id}/history`, byKey];
      const answers = [...asked.map((path) => one.owner.client.get(path)), post()];
      let settled = 0;
      for (const answer of answers) void answer.then(() => (settled += 1));
      await waits(page(one));
      expect(settled).to.equal(0);
      clock.advance(patienceMs);
      expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([503, 503, 503, 503]);
    });
  });

  describe("for the answers of commands", () => {
    it("is taken before any change: a cancellation answered with 503 does not cancel the event", async () => {
      const { client } = one.owner;
      const headers = { "x-api-key": ingest.apiKey };
      const { json } = await http("POST", api.url + ingest.path, { json: large(0), headers });
      const path = `/api/v1/events/${String(json["eventId"])}`;
      const first = page(one);
      await answerOf(first);
      const cancelled = client.post(`${path}/cancel`, {});
      await waits(page(one));
      clock.advance(patienceMs);
      expect((await cancelled).status).to.equal(503);
      await gone(first);
      expect((await client.get(path)).json["status"]).to.equal("Pending");
      expect((await client.post(`${path}/cancel`, {})).json["status"]).to.equal("Cancelled");
    });
  });

  describe("for bodies", () => {
    it("is held by an incomplete body: the network's next large body waits, then gets 503", async () => {
      await once(login("192.0.2.1"), "continue");
      const next = login("192.0.2.1");
      await waits(next);
      await isRefused(next);
    });

    it("goes to the network's next body once the previous request has ended", async () => {
      const first = login("192.0.2.1");
      await once(first, "continue");
      const next = login("192.0.2.1");
      await waits(next);
      const continued = once(next, "continue");
      first.end(`{"email":"${"a".repeat(maxBodyBytes - 12)}"}`);
      expect((await answerOf(first)).resume().statusCode).to.equal(400);
      await continued;
    });

    it("is left for another network's large body, and for small bodies of all", async () => {
      await once(login("2001:db8::1"), "continue");
      await waits(login("2001:db8::2"));
      await once(login("2001:db8:0:1::1"), "continue");
      const json = { email: one.owner.email, password };
      const headers = { "x-forwarded-for": "2001:db8::1" };
      expect((await http("POST", `${api.url}/api/v1/auth/login`, { json, headers })).status).to.equal(200);
    });

    it("is taken by chunked bodies once they prove to be large", async () => {
      const chunked = () => {
        const headers = { "content-type": "application/json", "x-forwarded-for": "192.0.2.1" };
        const sent = request(`${api.url}/api/v1/auth/login`, { method: "POST", agent: false, headers });
        sent.write(`{"email":"${"a".repeat(100_000)}`);
        open.push(sent);
        return sent;
      };
      chunked();
      const next = login("192.0.2.1");
      await waits(next);
      await isRefused(next);
      const last = chunked();
      await waits(last);
      await isRefused(last);
    });

    it("is counted by tenant: unfinished events leave memory to other tenants, and to small events", async () => {
      const stuck = Array.from({ length: 4 }, () => event(ingest));
      for (const sent of stuck) await once(sent, "continue");
      const next = event(ingest);
      await waits(next);
      await once(event(others), "continue");
      const headers = { "x-api-key": ingest.apiKey };
      expect((await http("POST", api.url + ingest.path, { json: {}, headers })).status).to.equal(202);
      await isRefused(next);
    });
  });
});
