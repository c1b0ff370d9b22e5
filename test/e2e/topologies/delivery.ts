import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { ApiClient, text, type Json } from "../../support/api-client.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account, type TestRelay } from "../../support/relay.ts";
import { onTopology } from "../../support/topologies.ts";

export const deliverySuite = onTopology("delivery, end to end over TLS", ({ start }) => {
  let receiver: Receiver;
  let relay: TestRelay;
  let paths = 0;

  before(async function () {
    receiver = await startReceiver();
    relay = await start(this, receiver);
  });

  after(async () => {
    await (relay as TestRelay | undefined)?.close();
    await receiver.close();
  });

  /** A path of the receiver for one test only. */
  function path(): string {
    paths += 1;
    return `/hook-${paths}`;
  }

  async function post({ producer }: Account, ingest: string, body: Json = { hello: "world" }): Promise<string> {
    return text(await producer.post(ingest, body), "eventId");
  }

  /** Posts again under the same key after a 503, which many processes on few cores may give. */
  async function postPatiently({ producer }: Account, ingest: string, body: Json): Promise<string> {
    const key = { "x-idempotency-key": JSON.stringify(body) };
    return text(await eventually(() => producer.post(ingest, body, key), () => true), "eventId");
  }

  const items = async (account: Account, at: string) => (await account.owner.get(at))["items"] as Json[];

  it("sends the received bytes unchanged, signed both ways, and records the attempt", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const bytes = '{"a":1.0,"big":12345678901234567890,"dup":1,"dup":2, "é":"\\u00e9"}';
    const answer = await fetch(relay.url + ingest, {
      method: "POST",
      headers: { "content-type": "application/json", "x-request-id": "order-4711", ...apiKeyOf(account) },
      body: bytes,
    });
    expect(answer.status).to.equal(202);
    const { eventId } = (await answer.json()) as { eventId: string };
    const event = await eventReaches(account.owner, eventId, "Succeeded");

    const [request] = receiver.requestsTo(hook);
    expect(request?.body.toString()).to.equal(bytes);
    const headers = request?.headers ?? {};
    const hmac = createHmac("sha256", account.webhookSecret).update(bytes).digest("hex");
    expect(headers["x-service-signature"]).to.equal(`sha256=${hmac}`);
    const key = Buffer.from(account.webhookSecret.slice("whsec_".length), "base64");
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${bytes}`;
    expect(headers["webhook-signature"]).to.equal(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    expect(headers).to.include({ "webhook-id": eventId, "x-relay-attempt": "1", "content-type": "application/json" });
    expect(headers["user-agent"]).to.match(/^webhook-relay\/\d/);

    expect(event).to.include({ payload: bytes, currentRetryCount: 0, nextAttemptAt: null });
    expect(event["deliveredAt"]).to.be.a("string");
    const [attempt] = await items(account, `/api/v1/events/${eventId}/attempts`);
    expect(attempt).to.include({ number: 1, statusCode: 200, destinationUrl: receiver.url(hook), truncated: false });
    const history = await items(account, `/api/v1/events/${eventId}/history`);
    const types = ["EventAccepted", "DeliveryAttemptStarted", "DeliverySucceeded"];
    expect(history.map(({ type }) => type)).to.deep.equal(types);
    expect(history.map(({ revision }) => revision)).to.deep.equal([0, 1, 2]);
    for (const { correlationId } of history) expect(correlationId).to.equal("order-4711");
  });

  it("records for each attempt the revision of the settings it used", async () => {
    const account = await openAccount(relay.url);
    const urls = [receiver.url(path()), receiver.url(path())] as const;
    const { id, ingest } = await account.destination({ url: urls[0] });
    const attempted = async () => {
      const eventId = await post(account, ingest);
      await eventReaches(account.owner, eventId, "Succeeded");
      return (await items(account, `/api/v1/events/${eventId}/history`))[1]?.["data"] as Json;
    };
    const before = await attempted();
    await account.owner.patch(`/api/v1/destinations/${id}`, { url: urls[1] });
    // A worker of another process may learn of the change a moment later.
    const after = await eventually(attempted, ({ url }) => url === urls[1]);
    const settings = await items(account, `/api/v1/destinations/${id}/history`);
    const told = settings.map(({ type, revision, data }) => [type, revision, (data as Json)["url"]]);
    expect(told).to.deep.equal([
      ["DestinationRegistered", before["destinationRevision"], before["url"]],
      ["DestinationUrlChanged", after["destinationRevision"], after["url"]],
    ]);
    expect(before["url"]).to.equal(urls[0]);
  });

  it("retries on the schedule until the receiver answers 2xx", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count <= 2 ? 500 : 204 }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const event = await eventReaches(account.owner, await post(account, ingest), "Succeeded");
    expect(event["currentRetryCount"]).to.equal(2);
    const requests = receiver.requestsTo(hook);
    expect(requests.map(({ headers }) => headers["x-relay-attempt"])).to.deep.equal(["1", "2", "3"]);
    expect(gaps(requests)[0]).to.be.at.least(50);
    expect(gaps(requests)[1]).to.be.at.least(100);
  });

  it("gives up after maxTrys, and delivers after a replay without reusing an attempt number", async () => {
    const account = await openAccount(relay.url, { maxTrys: 2, circuitBreakerTimer: 1 });
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count <= 2 ? 500 : 200 }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    const dead = await eventReaches(account.owner, eventId, "CriticalFailure");
    expect(dead).to.include({ currentRetryCount: 2, nextAttemptAt: null });
    const replayed = await account.owner.post(`/api/v1/events/${eventId}/replay`, {});
    expect(replayed).to.include({ status: "Pending", currentRetryCount: 0 });
    await eventReaches(account.owner, eventId, "Succeeded");
    expect(receiver.requestsTo(hook).map(({ headers }) => headers["x-relay-attempt"])).to.deep.equal(["1", "2", "3"]);
  });

  it("takes 410 for a final failure", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, () => ({ status: 410 }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const dead = await eventReaches(account.owner, await post(account, ingest), "CriticalFailure");
    expect(dead["currentRetryCount"]).to.equal(1);
    expect(receiver.requestsTo(hook)).to.have.length(1);
  });

  it("waits as long as Retry-After asks, and can cancel the waiting event", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, () => ({ status: 429, headers: { "retry-after": "3600" } }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    const waiting = await eventReaches(account.owner, eventId, "WaitingRetry");
    expect(Date.parse(text(waiting, "nextAttemptAt")) - Date.now()).to.be.within(3_590_000, 3_601_000);
    const cancelled = await account.owner.post(`/api/v1/events/${eventId}/cancel`, {});
    expect(cancelled).to.include({ status: "Cancelled", nextAttemptAt: null });
    expect(receiver.requestsTo(hook)).to.have.length(1);
  });

  it("opens the circuit at maxTrys consecutive failures, probes with the oldest held event, then resumes", async () => {
    const account = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    const hook = path();
    let healthy = false;
    receiver.on(hook, () => ({ status: healthy ? 200 : 500, delayMs: 20 }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook), serverRateLimit: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await post(account, ingest, { n }));
    const destination = () => account.owner.get(`/api/v1/destinations/${id}`);
    await eventually(destination, ({ status }) => status === "Suspended");
    const before = receiver.requestsTo(hook).length;
    expect(before).to.equal(3);
    const refused = await fetch(relay.url + ingest, {
      method: "POST", headers: { "content-type": "application/json", ...apiKeyOf(account) }, body: "{}",
    });
    expect(refused.status).to.equal(422);
    await eventually(async () => receiver.requestsTo(hook).length, (count) => count === before + 1);
    expect(receiver.requestsTo(hook)[before]?.headers["webhook-id"]).to.equal(ids[0]);
    expect(await destination()).to.include({ status: "Suspended" });
    healthy = true;
    await eventually(destination, ({ status }) => status === "Active");
    for (const eventId of ids) await eventReaches(account.owner, eventId, "Succeeded");
  });

  it("becomes Active, half-open, when the timer ends without held events; the next event is the probe", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1, circuitBreakerTimer: 1 });
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count === 1 ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook) });
    await eventReaches(account.owner, await post(account, ingest), "CriticalFailure");
    const destination = () => account.owner.get(`/api/v1/destinations/${id}`);
    expect(await destination()).to.include({ status: "Suspended" });
    await eventually(destination, ({ status }) => status === "Active");
    const eventId = await post(account, ingest);
    await eventReaches(account.owner, eventId, "Succeeded");
    const started = (await items(account, `/api/v1/events/${eventId}/history`))[1];
    expect((started?.["data"] as Json)["probe"]).to.equal(true);
    const facts = await eventually(() => items(account, `/api/v1/destinations/${id}/circuit/history`),
      (told) => told.at(-1)?.["type"] === "CircuitClosed");
    const types = ["CircuitOpened", "CircuitHalfOpened", "CircuitProbeClaimed", "CircuitClosed"];
    expect(facts.map(({ type }) => type)).to.deep.equal(types);
    expect((facts[2]?.["data"] as Json)["probe"]).to.include({ eventId });
  });

  it("holds the events of an Inactive destination and resumes them when it is active again", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count === 1 ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook), serverRateLimit: 1 });
    const eventId = await post(account, ingest);
    await eventReaches(account.owner, eventId, "WaitingRetry");
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "inactive" });
    const other = await openAccount(relay.url);
    const retried = path();
    receiver.on(retried, ({ count }) => ({ status: count % 2 === 1 ? 500 : 200 }));
    const { ingest: otherIngest } = await other.destination({ url: receiver.url(retried) });
    // A worker that had not heard of the change may have begun an attempt; it has when it delivers this event.
    await eventReaches(other.owner, await post(other, otherIngest), "Succeeded");
    const attempts = receiver.requestsTo(hook).length;
    // The held event's retry is due before the one of this event.
    await eventReaches(other.owner, await post(other, otherIngest), "Succeeded");
    expect(receiver.requestsTo(hook).length).to.equal(attempts);
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "active" });
    await eventReaches(account.owner, eventId, "Succeeded");
  });

  it("delivers to a URL whose scheme and host are in capitals", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    const url = receiver.url(hook).replace(/^https:\/\/[^/]+/, (origin) => origin.toUpperCase());
    const { ingest } = await account.destination({ url });
    await eventReaches(account.owner, await post(account, ingest), "Succeeded");
    expect(receiver.requestsTo(hook)).to.have.length(1);
  });

  it("cancels the waiting events of a deleted destination, and lets an attempt under way end", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    receiver.on(hook, async () => {
      await held;
      return { status: 200 };
    });
    const { id, ingest } = await account.destination({ url: receiver.url(hook), serverRateLimit: 1 });
    const underWay = await post(account, ingest);
    await eventReaches(account.owner, underWay, "Processing");
    const waiting = [await post(account, ingest), await post(account, ingest)];
    await account.owner.delete(`/api/v1/destinations/${id}`);
    for (const eventId of waiting) await eventReaches(account.owner, eventId, "Cancelled");
    letGo();
    await eventReaches(account.owner, underWay, "Succeeded");
    expect(receiver.requestsTo(hook)).to.have.length(1);
  });

  it("never has more requests at once than the limit, and drains a backlog far beyond its window", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    let open = 0;
    let most = 0;
    receiver.on(hook, async () => {
      open += 1;
      most = Math.max(most, open);
      await pause(2);
      open -= 1;
      return {};
    });
    const { ingest } = await account.destination({ url: receiver.url(hook), serverRateLimit: 3 });
    const ids = await Promise.all(Array.from({ length: 400 }, (_, n) => postPatiently(account, ingest, { n })));
    await eventually(
      // Lists answer 503 while the read models are behind.
      () => account.owner.get("/api/v1/events?Status=Succeeded&Qt=1").catch((error: unknown): Json => ({ error })),
      (answer) => answer["total"] === ids.length,
      25_000,
    );
    expect(most).to.equal(3);
    const sent = receiver.requestsTo(hook).map(({ headers }) => String(headers["webhook-id"]));
    expect(sent.toSorted()).to.deep.equal(ids.toSorted());
  });

  it("fetches one token for JwtBearer and sends it", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    const tokens = path();
    receiver.on(tokens, () => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ access_token: "granted", token_type: "Bearer", expires_in: 3600 }),
    }));
    const credentials = { tokenEndpoint: receiver.url(tokens), clientId: "me", clientSecret: "hush", scope: "hooks" };
    const { ingest } = await account.destination({ url: receiver.url(hook), authType: "JwtBearer", credentials });
    const ids = await Promise.all([1, 2, 3, 4].map((n) => post(account, ingest, { n })));
    for (const eventId of ids) await eventReaches(account.owner, eventId, "Succeeded");
    expect(receiver.requestsTo(tokens).map(({ body }) => String(body))).to.deep.equal(
      ["grant_type=client_credentials&scope=hooks"]);
    expect(receiver.requestsTo(hook).map(({ headers }) => headers.authorization)).to.deep.equal(
      ids.map(() => "Bearer granted"),
    );
    const [attempt] = await items(account, `/api/v1/events/${String(ids[0])}/attempts`);
    expect(JSON.stringify(attempt)).not.to.include("granted");
  });

  it("carries on after a restart: waiting events are delivered, outcomes stay", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    let healthy = false;
    receiver.on(hook, () => ({ status: healthy ? 200 : 500 }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    await eventReaches(account.owner, eventId, "WaitingRetry");
    await relay.restart();
    healthy = true;
    const owner = await logIn(relay.url, account);
    await eventReaches(owner, eventId, "Succeeded");
  });
});

function apiKeyOf(account: Account): Record<string, string> {
  return { ...account.producer.headers };
}

async function logIn(url: string, { email, password }: Account): Promise<ApiClient> {
  const session = await new ApiClient(url).post("/api/v1/auth/login", { email, password });
  return new ApiClient(url, { authorization: `Bearer ${text(session, "accessToken")}` });
}

/** Milliseconds between consecutive requests. */
function gaps(requests: readonly { readonly at: number }[]): number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? at));
}
