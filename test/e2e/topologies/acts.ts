import { expect } from "chai";
import type { Schemas } from "../../../packages/client/src/index.ts";
import { text, type Json } from "../../support/api-client.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account, type TestRelay } from "../../support/relay.ts";
import { onTopology } from "../../support/topologies.ts";

type Story = Schemas["Story"];

export const actsSuite = onTopology("acts on single events, and their stories, end to end over TLS", ({ start }) => {
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
  const path = () => `/hook-${(paths += 1)}`;
  const post = async ({ producer }: Account, ingest: string) => text(await producer.post(ingest, { n: 1 }), "eventId");
  const act = ({ owner }: Account, eventId: string, what: "resend" | "retry") =>
    owner.post(`/api/v1/events/${eventId}/${what}`, {});
  const numbersAt = (hook: string) => receiver.requestsTo(hook).map(({ headers }) => headers["x-relay-attempt"]);
  /** An event that waits long for its retry: its first attempt was answered 503. */
  const waiting = async (account: Account, ingest: string) => {
    const eventId = await post(account, ingest);
    const event = await eventReaches(account.owner, eventId, "WaitingRetry");
    expect(Date.parse(text(event, "nextAttemptAt"))).to.be.greaterThan(Date.now() + 3_000_000);
    return eventId;
  };
  const unavailableAtFirst = (hook: string) =>
    receiver.on(hook, ({ count }) => ({ status: count === 1 ? 503 : 200, headers: { "retry-after": "3600" } }));

  it("a resend sends a delivered event once more, with its webhook-id and the next attempt's number", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    const delivered = await eventReaches(account.owner, eventId, "Succeeded");
    for (let order = 1; order <= 3; order++) {
      const resent = await act(account, eventId, "resend");
      expect(resent).to.include({ status: "Pending", deliveredAt: delivered["deliveredAt"], currentRetryCount: 0 });
      await eventReaches(account.owner, eventId, "Succeeded");
      delivered["deliveredAt"] = (await account.owner.get(`/api/v1/events/${eventId}`))["deliveredAt"];
    }
    expect(numbersAt(hook)).to.deep.equal(["1", "2", "3", "4"]);
    const ids = receiver.requestsTo(hook).map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids)).to.deep.equal(new Set([eventId]));
  });

  it("a retry sends a waiting event at once", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    unavailableAtFirst(hook);
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await waiting(account, ingest);
    expect(await act(account, eventId, "retry")).to.include({ status: "WaitingRetry", currentRetryCount: 1 });
    const event = await eventReaches(account.owner, eventId, "Succeeded");
    expect(event["currentRetryCount"]).to.equal(1);
    expect(numbersAt(hook)).to.deep.equal(["1", "2"]);
  });

  it("a retry leaves an event held while its destination is Inactive or Suspended", async () => {
    const account = await openAccount(relay.url, { maxTrys: 2, circuitBreakerTimer: 4 });
    const hook = path();
    unavailableAtFirst(hook);
    const { id, ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await waiting(account, ingest);
    const destination = () => account.owner.get(`/api/v1/destinations/${id}`);
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "inactive" });
    await act(account, eventId, "retry");
    const { ingest: elsewhere } = await account.destination({ url: receiver.url(path()) });
    // Work that came later, to another destination, is done.
    await eventReaches(account.owner, await post(account, elsewhere), "Succeeded");
    expect(numbersAt(hook)).to.deep.equal(["1"]);
    expect(await account.owner.get(`/api/v1/events/${eventId}`)).to.include({ status: "WaitingRetry" });
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "active" });
    await eventReaches(account.owner, eventId, "Succeeded");

    receiver.on(hook, ({ count }) => ({ status: count <= 4 ? 503 : 200, headers: { "retry-after": "3600" } }));
    const [held, probe] = [await waiting(account, ingest), await waiting(account, ingest)];
    await eventually(destination, ({ status }) => status === "Suspended");
    const suspended = await destination();
    await act(account, held, "retry");
    await eventReaches(account.owner, held, "Succeeded");
    const [, , , , retried] = receiver.requestsTo(hook);
    expect(retried?.headers["webhook-id"]).to.equal(held);
    const started = (await account.owner.get(`/api/v1/events/${held}/history?Qt=100`))["items"] as Json[];
    const probing = started.findLast(({ type }) => type === "DeliveryAttemptStarted");
    expect(Date.parse(text(probing ?? {}, "time"))).to.be.at.least(Date.parse(text(suspended, "suspendedUntil")));
    expect(await account.owner.get(`/api/v1/events/${probe}`)).to.include({ status: "WaitingRetry" });
  });

  it("a retry keeps the pause that the receiver asked for by 429", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count === 1 ? 429 : 200, headers: { "retry-after": "2" } }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    await eventReaches(account.owner, eventId, "WaitingRetry");
    await act(account, eventId, "retry");
    await eventReaches(account.owner, eventId, "Succeeded");
    const [first, second] = receiver.requestsTo(hook);
    expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.at.least(2_000);
  });

  it("a test event goes out once, marked, to an Inactive destination and to a Suspended one", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1, circuitBreakerTimer: 600 });
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count === 2 ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook) });
    const destination = () => account.owner.get(`/api/v1/destinations/${id}`);
    const test = async (fields: Json = {}) =>
      text(await account.owner.post(`/api/v1/destinations/${id}/test`, fields), "id");
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "inactive" });
    const first = await test({ eventType: "order.paid", payload: { n: 1 } });
    await eventReaches(account.owner, first, "Succeeded");
    await account.owner.patch(`/api/v1/destinations/${id}`, { status: "active" });
    const failed = await eventReaches(account.owner, await post(account, ingest), "CriticalFailure");
    expect(await eventually(destination, ({ status }) => status === "Suspended")).to.include({ status: "Suspended" });
    const second = await test();
    await eventReaches(account.owner, second, "Succeeded");
    expect(await destination(), "a success closes no circuit").to.include({ status: "Suspended" });
    const requests = receiver.requestsTo(hook);
    expect(requests.map(({ headers }) => [headers["webhook-id"], headers["x-relay-test"], headers["x-relay-attempt"]]))
      .to.deep.equal([[first, "true", "1"], [failed["id"], undefined, "1"], [second, "true", "1"]]);
    expect(requests[0]?.body.toString()).to.equal('{"n":1}');
    expect(requests[0]?.headers["webhook-signature"]).to.match(/^v1,/);
  });

  it("a test event that fails is not retried, and opens no circuit", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1, circuitBreakerTimer: 600 });
    const hook = path();
    receiver.on(hook, ({ headers }) => ({ status: headers["x-relay-test"] === undefined ? 200 : 503 }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook) });
    for (let n = 0; n < 3; n++) {
      const { id: eventId } = (await account.owner.post(`/api/v1/destinations/${id}/test`, {}));
      const event = await eventReaches(account.owner, String(eventId), "CriticalFailure");
      expect(event).to.include({ currentRetryCount: 1, nextAttemptAt: null, test: true });
    }
    expect(await account.owner.get(`/api/v1/destinations/${id}`)).to.include({ status: "Active" });
    await eventReaches(account.owner, await post(account, ingest), "Succeeded");
    expect(receiver.requestsTo(hook)).to.have.length(4);
    expect((await account.owner.get(`/api/v1/destinations/${id}/circuit/history`))["total"]).to.equal(0);
  });

  const storyOf = async ({ owner }: Account, eventId: string, query = "") =>
    (await owner.get(`/api/v1/events/${eventId}/story${query}`)) as unknown as Story;
  const causesOf = (because: Story["chapters"][number]["because"]) =>
    because.map(({ code, entry }) => `${code} ${entry?.type}`);
  const chaptersOf = ({ chapters }: Story) =>
    chapters.map(({ kind, because }) => [kind, ...causesOf(because)].join(", "));

  it("a story names the Retry-After of a 429, and the pause for which another event waited", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, ({ count }) => ({ status: count === 1 ? 429 : 200, headers: { "retry-after": "4" } }));
    const { id, ingest } = await account.destination({ url: receiver.url(hook) });
    const first = await post(account, ingest);
    await eventReaches(account.owner, first, "WaitingRetry");
    const second = await post(account, ingest);
    const held = await eventually(() => storyOf(account, second), ({ waiting }) =>
      waiting?.reason === "receiver-pause");
    const pausedUntil = String(held.waiting?.until);
    expect(causesOf(held.waiting!.because)).to.deep.equal(["receiver-pause CircuitCounted"]);
    expect(held.waiting?.because[0]?.entry?.subject).to.deep.equal({ type: "circuit", id });
    expect(held.waiting?.because[0]?.values).to.include({ eventId: first, pausedUntil });
    for (const eventId of [first, second]) await eventReaches(account.owner, eventId, "Succeeded");
    const told = await storyOf(account, first);
    expect(chaptersOf(told)).to.deep.equal([
      "accepted", "attempt, first-attempt EventAccepted", "wait, receiver-retry-after DeliveryFailed",
      "attempt, receiver-retry-after DeliveryFailed",
    ]);
    expect(told.chapters[2]?.because[0]?.values).to.include({ retryAfterMs: 4_000 });
    const after = await storyOf(account, second);
    expect(chaptersOf(after)).to.deep.equal([
      "accepted", "wait, receiver-pause CircuitCounted", "attempt, first-attempt EventAccepted",
    ]);
    expect(String(after.chapters[1]?.to) >= pausedUntil).to.equal(true);
    expect((await storyOf(account, second, `?AsOf=${held.asOf.position}`)).waiting).to.include({
      reason: "receiver-pause", until: pausedUntil,
    });
  });

  it("a story tells that a receiver answered 410", async () => {
    const account = await openAccount(relay.url);
    const hook = path();
    receiver.on(hook, () => ({ status: 410 }));
    const { ingest } = await account.destination({ url: receiver.url(hook) });
    const eventId = await post(account, ingest);
    await eventReaches(account.owner, eventId, "CriticalFailure");
    const told = await storyOf(account, eventId);
    expect(told.waiting).to.equal(null);
    expect(chaptersOf(told)).to.deep.equal([
      "accepted", "attempt, first-attempt EventAccepted", "exhausted, gone DeliveryExhausted",
    ]);
    expect(told.chapters[1]?.entries.map(({ type }) => type)).to.deep.equal([
      "DeliveryAttemptStarted", "DeliveryFailed",
    ]);
  });
});
