import { expect } from "chai";
import { ApiClient, text, type Json } from "../../support/api-client.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eventReaches, eventually, openAccount, type TestRelay } from "../../support/relay.ts";
import { onTopology, rolesApart } from "../../support/topologies.ts";

/** The behaviour that the suites of this folder prove one by one, in one run: they follow in `make test-slow`. */
const journeySuite = onTopology("a tenant's whole journey", ({ start }) => {
  let receiver: Receiver;
  let relay: TestRelay;

  beforeEach(async function () {
    receiver = await startReceiver();
    relay = await start(this, receiver);
  });
  afterEach(async () => {
    await (relay as TestRelay | undefined)?.close();
    await receiver.close();
  });

  it("goes through delivery, retries, circuit, acts, a sender, limits and a restart", async () => {
    const account = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    let { owner, producer } = account;
    const post = async (ingest: string, body: Json = {}) => text(await producer.post(ingest, body), "eventId");
    const opened = async (hook: string, fields: Json = {}) =>
      account.destination({ url: receiver.url(hook), ...fields });
    const sentTo = (hook: string, header: string) => receiver.requestsTo(hook).map(({ headers }) => headers[header]);
    const typesOf = async (eventId: string) =>
      ((await owner.get(`/api/v1/events/${eventId}/history?Qt=100`))["items"] as Json[]).map(({ type }) => type);

    const healthy = await opened("/healthy");
    const delivered = await post(healthy.ingest, { n: 1 });
    await eventReaches(owner, delivered, "Succeeded");
    const types = ["EventAccepted", "DeliveryAttemptStarted", "DeliverySucceeded"];
    expect(await typesOf(delivered)).to.deep.equal(types);
    expect(receiver.requestsTo("/healthy")[0]?.body.toString()).to.equal('{"n":1}');
    await owner.post(`/api/v1/events/${delivered}/resend`, {});
    await eventually(async () => sentTo("/healthy", "x-relay-attempt"), (numbers) => numbers.join() === "1,2");

    receiver.on("/retried", ({ count }) => ({ status: count <= 2 ? 500 : 204 }));
    const retried = await opened("/retried");
    const event = await eventReaches(owner, await post(retried.ingest), "Succeeded");
    expect(event["currentRetryCount"]).to.equal(2);
    expect(sentTo("/retried", "x-relay-attempt")).to.deep.equal(["1", "2", "3"]);

    let isBroken = true;
    receiver.on("/broken", () => ({ status: isBroken ? 500 : 200 }));
    const broken = await opened("/broken", { serverRateLimit: 1 });
    const given = await Promise.all([1, 2].map((n) => post(broken.ingest, { n })));
    const destination = () => owner.get(`/api/v1/destinations/${broken.id}`);
    await eventually(destination, ({ status }) => status === "Suspended");
    isBroken = false;
    await eventually(destination, ({ status }) => status === "Active");
    for (const id of given) {
      const { status } = await eventually(() => owner.get(`/api/v1/events/${id}`), (last) =>
        last["status"] === "Succeeded" || last["status"] === "CriticalFailure");
      if (status === "CriticalFailure") await owner.post(`/api/v1/events/${id}/replay`, {});
      await eventReaches(owner, id, "Succeeded");
    }

    let open = 0;
    let most = 0;
    receiver.on("/narrow", async () => {
      most = Math.max(most, open += 1);
      // The first requests are answered once as many are open as may be, however slow this machine is.
      await eventually(async () => most, (reached) => reached >= 3);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open -= 1;
      return {};
    });
    const narrow = await opened("/narrow", { serverRateLimit: 3 });
    const many = await Promise.all(Array.from({ length: 50 }, (_, n) => post(narrow.ingest, { n })));
    for (const id of many) await eventReaches(owner, id, "Succeeded");
    expect(most).to.equal(3);
    expect(sentTo("/narrow", "webhook-id").sort()).to.deep.equal(many.sort());

    const sender = await owner.post("/api/v1/senders", {
      name: "mapped", destinationUrlId: healthy.id, mapping: { language: "jmespath", expression: "{v: a}" },
    });
    const ingest = `/api/v1/ingest/${account.tenantId}/${text(sender, "ingestToken")}`;
    const mapped = await producer.post(ingest, { a: 7 }, { "x-idempotency-key": "once" });
    const mappedId = text(mapped, "eventId");
    expect(await eventReaches(owner, mappedId, "Succeeded")).to.include({ payload: '{"v":7}' });

    receiver.on("/later", ({ count }) => count <= 2 ? { status: 503, headers: { "retry-after": "3600" } } : {});
    const later = await opened("/later", { serverRateLimit: 1 });
    const [waiting, cancelled] = [await post(later.ingest), await post(later.ingest)];
    for (const id of [waiting, cancelled]) await eventReaches(owner, id, "WaitingRetry");
    await owner.post(`/api/v1/events/${cancelled}/cancel`, {});
    const key = await owner.post("/api/v1/api-keys", { name: "short" });
    await owner.delete(`/api/v1/api-keys/${text(key, "id")}`);
    await relay.restart();
    const { email, password } = account;
    const session = await new ApiClient(relay.url).post("/api/v1/auth/login", { email, password });
    owner = new ApiClient(relay.url, { authorization: `Bearer ${text(session, "accessToken")}` });
    producer = new ApiClient(relay.url, producer.headers);
    const refused = new ApiClient(relay.url, { "x-api-key": text(key, "apiKey") }).post(healthy.ingest, {});
    expect(await refused.catch((error: unknown) => error)).to.include({ status: 401 });
    expect(await owner.get(`/api/v1/events/${waiting}`)).to.include({ status: "WaitingRetry" });
    await owner.post(`/api/v1/events/${waiting}/retry`, {});
    await eventReaches(owner, waiting, "Succeeded");
    expect(await producer.post(ingest, { a: 8 }, { "x-idempotency-key": "once" })).to.include({ eventId: mappedId });
    expect(await owner.get("/api/v1/events?Status=Cancelled")).to.include({ total: 1 });
    const total = 1 + 1 + given.length + many.length + 1 + 2;
    const { statuses } = await owner.get("/api/v1/events/totals");
    expect(statuses).to.include({ Succeeded: total - 1, Cancelled: 1 });
  });
});

journeySuite(rolesApart);
