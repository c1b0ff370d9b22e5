import { expect } from "chai";
import type { Json } from "../support/api-client.ts";
import { startConnectProxy, type ConnectProxy } from "../support/connect-proxy.ts";
import { forwardProxyOrSkip, type ForwardProxy } from "../support/forward-proxies.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  eventReaches, eventually, openAccount, startTestRelay, type Account, type TestRelay,
} from "../support/relay.ts";

describe("outbound proxy of a relay", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  afterEach(() => relay.close());

  const startWith = async (proxy: string) => {
    relay = await startTestRelay(receiver, { RELAY_OUTBOUND_PROXY: proxy });
    account = await openAccount(relay.url, { maxTrys: 3 });
  };
  const post = async (ingest: string) => String((await account.producer.post(ingest, { a: 1 }))["eventId"]);
  const eventOf = (id: string) => account.owner.get(`/api/v1/events/${id}`);
  const attemptsOf = async (id: string) =>
    (await account.owner.get(`/api/v1/events/${id}/attempts`))["items"] as Json[];
  const storyOf = (id: string) => account.owner.get(`/api/v1/events/${id}/story`);
  const factsOf = async (id: string) => (await account.owner.get(`/api/v1/events/${id}/history`))["items"] as Json[];
  /** The event waits for the proxy, and no attempt is recorded. */
  const waitsForProxy = async (id: string) => {
    const { waiting } = await eventually(() => storyOf(id),
      (story) => (story["waiting"] as Json | null)?.["reason"] === "proxy");
    expect((await eventOf(id))["status"]).to.equal("Pending");
    expect(await attemptsOf(id)).to.deep.equal([]);
    return waiting as Json & { because: Json[] };
  };
  const circuitOf = async (id: string) => (await account.owner.get(`/api/v1/destinations/${id}`))["status"];

  describe("in this process", () => {
    let proxy: ConnectProxy;
    beforeEach(async () => {
      proxy = await startConnectProxy();
      await startWith(`http://127.0.0.1:${proxy.port}`);
    });
    afterEach(() => proxy.stop().catch(() => undefined));

    it("that is away spends no attempt, opens no circuit, and heals by itself", async () => {
      await proxy.stop();
      const { id, ingest } = await account.destination({ url: receiver.url("/away") });
      const events = [await post(ingest), await post(ingest), await post(ingest)];
      for (const event of events) {
        const { because } = await waitsForProxy(event);
        expect(because.at(-1)).to.deep.include({
          code: "proxy", values: { error: "the outbound proxy cannot be used: the connection was refused" },
        });
        expect((await factsOf(event)).map(({ type }) => type)).to.deep.equal(["EventAccepted"]);
      }
      expect(await circuitOf(id)).to.equal("Active");
      await proxy.start();
      for (const event of events) {
        await eventReaches(account.owner, event, "Succeeded");
        expect((await attemptsOf(event)).map(({ number }) => number)).to.deep.equal([1]);
        const started = (await factsOf(event)).find(({ type }) => type === "DeliveryAttemptStarted");
        expect((started?.["data"] as Json)["waitedFor"]).to.equal("proxy");
        const { chapters } = (await storyOf(event)) as { chapters: { kind: string; because: Json[] }[] };
        const wait = chapters.find(({ kind }) => kind === "wait");
        expect(wait?.because.map(({ code }) => code)).to.deep.equal(["proxy"]);
      }
      expect(receiver.requestsTo("/away")).to.have.length(3);
    });

    it("that fails after an attempt began takes the attempt back, and its number is used again", async () => {
      const { ingest } = await account.destination({ url: receiver.url("/lost") });
      await eventReaches(account.owner, await post(ingest), "Succeeded");
      await proxy.stop();
      const event = await post(ingest);
      await waitsForProxy(event);
      await proxy.start();
      await eventReaches(account.owner, event, "Succeeded");
      expect(await attemptsOf(event)).to.have.length(1);
      expect(receiver.requestsTo("/lost").map(({ headers }) => headers["x-relay-attempt"])).to.deep.equal(["1", "1"]);
    });

    it("that asks for a name and password is not the receiver's failure; a retry keeps its number, too", async () => {
      const { ingest } = await account.destination({ url: receiver.url("/retried") });
      receiver.on("/retried", ({ count }) => {
        proxy.answer = () => (count === 1 ? 407 : "tunnel");
        return { status: count === 1 ? 500 : 200, headers: { connection: "close" } };
      });
      const event = await post(ingest);
      const problem = await eventually(() => storyOf(event),
        (story) => (story["waiting"] as Json | null)?.["reason"] === "proxy");
      expect(JSON.stringify(problem)).to.contain("the outbound proxy answered 407 to CONNECT");
      expect(await eventOf(event)).to.include({ status: "WaitingRetry", currentRetryCount: 1 });
      expect(await attemptsOf(event)).to.have.length(1);
      const { items } = (await account.owner.get("/api/v1/events?View=summary")) as { items: Json[] };
      expect(items.find(({ id }) => id === event)).to.deep.include({ attempts: 1 });
      proxy.answer = () => "tunnel";
      await eventReaches(account.owner, event, "Succeeded");
      expect((await attemptsOf(event)).map(({ number, outcome }) => [number, outcome]))
        .to.deep.equal([[1, "failed"], [2, "succeeded"]]);
    });

    it("passes on with 5xx that the receiver cannot be reached: that counts", async () => {
      proxy.answer = () => 503;
      const { id, ingest } = await account.destination({ url: receiver.url("/unreachable") });
      const event = await post(ingest);
      await eventReaches(account.owner, event, "CriticalFailure");
      const attempts = await attemptsOf(event);
      expect(attempts).to.have.length(3);
      for (const attempt of attempts) {
        expect(attempt).to.include({
          reason: "connection", error: "the connection failed: the outbound proxy answered 503 to CONNECT",
        });
      }
      expect(await circuitOf(id)).to.equal("Suspended");
    });

    it("that refuses one receiver does not hold up another", async () => {
      const other = await startReceiver();
      proxy.answer = ({ target }) => (target.endsWith(`:${other.port}`) ? 403 : "tunnel");
      const refused = await account.destination({ url: other.url("/refused") });
      const served = await account.destination({ url: receiver.url("/served") });
      const event = await post(refused.ingest);
      await waitsForProxy(event);
      await eventReaches(account.owner, await post(served.ingest), "Succeeded");
      await waitsForProxy(event);
      await other.close();
    });

    it("holds test events, too, and deliveries whose token endpoint it does not reach", async () => {
      const tokens = await startReceiver();
      const { id, ingest } = await account.destination({
        url: receiver.url("/granted"), authType: "JwtBearer",
        credentials: { tokenEndpoint: receiver.url("/token", "localhost"), clientId: "a", clientSecret: "b" },
      });
      proxy.answer = () => "silence";
      receiver.on("/token", () => ({ body: JSON.stringify({ access_token: "made" }) }));
      const event = await post(ingest);
      const test = String((await account.owner.post(`/api/v1/destinations/${id}/test`, {}))["id"]);
      await waitsForProxy(event);
      expect(await attemptsOf(test)).to.deep.equal([]);
      proxy.answer = () => "tunnel";
      for (const one of [event, test]) await eventReaches(account.owner, one, "Succeeded");
      expect(receiver.requestsTo("/token")).to.have.length(1);
      await tokens.close();
    });
  });

  for (const name of ["squid", "tinyproxy"] as const) {
    describe(name, () => {
      let proxy: ForwardProxy;
      before(async function () {
        proxy = await forwardProxyOrSkip(this, name);
      });
      after(() => proxy.close());

      it("carries deliveries and requests for tokens, with a name and password", async () => {
        await startWith(proxy.url);
        receiver.on("/token-by-proxy", () => ({ body: JSON.stringify({ access_token: "made" }) }));
        const { ingest } = await account.destination({
          url: receiver.url(`/by-${name}`), authType: "JwtBearer",
          credentials: { tokenEndpoint: receiver.url("/token-by-proxy"), clientId: "a", clientSecret: "b" },
        });
        await eventReaches(account.owner, await post(ingest), "Succeeded");
        const [got] = receiver.requestsTo(`/by-${name}`);
        expect(got?.headers).to.include({ authorization: "Bearer made" });
        expect(got?.headers).not.to.have.any.keys("proxy-authorization", "via");
        expect(proxy.log(`127.0.0.1:${receiver.port}`)).not.to.deep.equal([]);
      });

      it("that refuses the password, or is down, spends no attempt, and heals by itself", async () => {
        await startWith(proxy.url.replace("relay:", "other:"));
        const { ingest } = await account.destination({ url: receiver.url(`/refused-${name}`) });
        const { because } = await waitsForProxy(await post(ingest));
        // Tinyproxy answers 401.
        expect(JSON.stringify(because.at(-1))).to.match(/the outbound proxy answered 40[17] to CONNECT/);
        await relay.close();
        await startWith(proxy.url);
        await proxy.stop();
        const down = await account.destination({ url: receiver.url(`/down-${name}`) });
        const event = await post(down.ingest);
        await waitsForProxy(event);
        await proxy.start();
        await eventReaches(account.owner, event, "Succeeded");
        expect((await attemptsOf(event)).map(({ number }) => number)).to.deep.equal([1]);
      });
    });
  }
});
