import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

/** From the readiness of a process to the last redelivery of its predecessor's unfinished attempts. */
const redeliveredWithinMs = 3_000;

describe("a healthy receiver", function () {
  this.timeout(120_000);
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  const begin = async (env: Readonly<Record<string, string>>, policy: Json = {}) => {
    receiver = await startReceiver();
    relay = await RelayProcess.start(receiver, { env });
    account = await openAccount(relay.url, policy);
  };
  const get = (path: string) => relay.at(account.owner).get(path);
  const items = async (path: string) => (await get(path))["items"] as Json[];
  const post = async (ingest: string, body: Json) =>
    text(await relay.at(account.producer).post(ingest, body), "eventId");
  const attemptsOf = (eventId: string) => items(`/api/v1/events/${eventId}/attempts?Qt=100&TpOrd=Asc`);
  const circuitOf = (id: string) => items(`/api/v1/destinations/${id}/circuit/history?Qt=100&TpOrd=Asc`);
  const reaches = (id: string, status: string) => eventReaches(relay.at(account.owner), id, status, 60_000);

  it("is not suspended by a kill -9 with maxTrys attempts under way, and gets their events again at once", async () => {
    await begin({ RELAY_RETRY_SCHEDULE: "5s,5m", RELAY_DELIVERY_TIMEOUT: "15s" });
    const count = 40;
    let isKilled = false;
    receiver.on("/slow", () => (isKilled ? {} : "silence"));
    const slow = { url: receiver.url("/slow"), serverRateLimit: count };
    const targets = [await account.destination(slow), await account.destination(slow)];
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) for (const { ingest } of targets) ids.push(await post(ingest, { n }));
    await receiver.waitFor(({ received }) => received === ids.length);
    // These events wait for a free place.
    for (const { ingest } of targets) ids.push(await post(ingest, { late: true }));
    await relay.kill9();
    isKilled = true;
    await relay.start();
    const readyAt = relay.lives.at(-1)?.readyAt ?? 0;
    for (const { ingest } of targets) ids.push(await post(ingest, { after: true }));

    for (const id of ids) await reaches(id, "Succeeded");
    const attempts = await Promise.all(ids.map(attemptsOf));
    const again = attempts.flatMap(([, second]) => (second ? [second] : []));
    expect(again).to.have.length(targets.length * count);
    const last = Math.max(...again.map(({ startedAt }) => Date.parse(String(startedAt))));
    expect(last - readyAt).to.be.at.most(redeliveredWithinMs);
    const first = attempts.filter(([, second]) => second).map(([attempt]) => attempt?.["outcome"]);
    expect(new Set(first)).to.deep.equal(new Set(["unknown"]));
    for (const { id } of targets) {
      expect(await get(`/api/v1/destinations/${id}`)).to.include({ status: "Active" });
      expect(await circuitOf(id)).to.deep.equal([]);
    }
  });

  it("is probed again if a probe was under way at a kill -9", async () => {
    const timerMs = 1_000;
    await begin({ RELAY_RETRY_SCHEDULE: "50ms", RELAY_DELIVERY_TIMEOUT: "15s" }, {
      maxTrys: 3, circuitBreakerTimer: timerMs / 1_000,
    });
    let mood: "ill" | "silent" | "well" = "ill";
    receiver.on("/moody", () => (mood === "silent" ? "silence" : { status: mood === "ill" ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url("/moody"), serverRateLimit: 10 });
    await post(ingest, {});
    await post(ingest, {});
    await eventually(() => get(`/api/v1/destinations/${id}`), ({ status }) => status === "Suspended");
    mood = "silent";
    const before = receiver.received;
    await receiver.waitFor(({ received }) => received > before);
    await relay.kill9();
    mood = "well";
    await relay.start();
    const readyAt = relay.lives.at(-1)?.readyAt ?? 0;
    const closed = await eventually(
      async () => (await circuitOf(id)).find(({ type }) => type === "CircuitClosed"), (fact) => fact !== undefined);
    expect(Date.parse(String(closed?.["time"])) - readyAt).to.be.at.most(redeliveredWithinMs);
  });

  it("is not suspended for answers of 429, and gets no new attempt before its Retry-After", async () => {
    await begin({ RELAY_RETRY_SCHEDULE: "100ms", RELAY_DELIVERY_TIMEOUT: "15s" }, { maxTrys: 8 });
    const perSecond = 8;
    let taken: number[] = [];
    receiver.on("/paced", ({ at }) => {
      taken = taken.filter((before) => before > at - 1_000);
      if (taken.length >= perSecond) return { status: 429, headers: { "retry-after": "1" } };
      taken.push(at);
      return {};
    });
    const { id, ingest } = await account.destination({ url: receiver.url("/paced"), serverRateLimit: 20 });
    const ids: string[] = [];
    for (let n = 0; n < 24; n += 1) ids.push(await post(ingest, { n }));
    for (const eventId of ids) await reaches(eventId, "Succeeded");
    expect(await get(`/api/v1/destinations/${id}`)).to.include({ status: "Active", suspendedUntil: null });
    const facts = await circuitOf(id);
    expect(new Set(facts.map(({ type }) => type))).to.deep.equal(new Set(["CircuitCounted"]));
    expect(facts.every(({ data }) => (data as Json)["failures"] === 0)).to.equal(true);
    const attempts = (await Promise.all(ids.map(attemptsOf))).flat();
    const starts = attempts.map(({ startedAt }) => Date.parse(String(startedAt)));
    const refused = attempts.filter(({ statusCode }) => statusCode === 429);
    expect(refused.length).to.be.greaterThan(8);
    for (const { finishedAt } of refused) {
      const from = Date.parse(String(finishedAt));
      expect(starts.filter((at) => at > from && at < from + 990), "begun within a pause").to.deep.equal([]);
    }
    expect(facts.length, "facts of the circuit for so many refusals").to.be.lessThan(refused.length);
  });

  it("is not kept suspended by one event that always fails", async () => {
    await begin({ RELAY_RETRY_SCHEDULE: "50ms" }, { maxTrys: 5, circuitBreakerTimer: 1 });
    let isDown = true;
    receiver.on("/choosy", ({ body }) => ({ status: isDown || body.includes("poison") ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url("/choosy"), serverRateLimit: 1 });
    const poison = await post(ingest, { poison: true });
    const others = [await post(ingest, { n: 1 }), await post(ingest, { n: 2 })];
    await eventually(() => get(`/api/v1/destinations/${id}`), ({ status }) => status === "Suspended");
    isDown = false;
    for (const eventId of others) await reaches(eventId, "Succeeded");
    const probes = (await circuitOf(id)).filter(({ type }) => type === "CircuitProbeClaimed");
    expect(probes.map(({ data }) => (data as Json)["eventId"])).to.deep.equal([poison, others[0]]);
  });
});
