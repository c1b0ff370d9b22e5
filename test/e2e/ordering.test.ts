import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import {
  eventReaches, eventually, openAccount, startTestRelay, type Account, type TestRelay,
} from "../support/relay.ts";

interface Numbered {
  readonly key: string;
  readonly n: number;
}

describe("an ordered destination", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;

  before(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
    account = await openAccount(relay.url, { maxTrys: 1_000 });
  });

  after(async () => {
    await relay.close();
    await receiver.close();
  });

  const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString()) as Numbered;
  const post = async (ingest: string, payload: Json) => text(await account.producer.post(ingest, payload), "eventId");
  const refusal = (request: Promise<Json>) => request.then(() => null, (error: unknown) => error as object);

  it("delivers the events of a key one after the other, while the other keys go on", async () => {
    const failures = new Map<string, number>();
    let isStuck = true;
    const delivered: Numbered[] = [];
    receiver.on("/keys", (request) => {
      const numbered = bodyOf(request);
      const name = `${numbered.key} ${numbered.n}`;
      const failed = failures.get(name) ?? 0;
      const fails = numbered.key === "stuck" ? isStuck : numbered.n % 5 === 2 && failed < 2;
      failures.set(name, failed + 1);
      if (fails) return { status: 500 };
      delivered.push(numbered);
      return {};
    });
    const { ingest } = await account.destination({
      url: receiver.url("/keys"), serverRateLimit: 20, ordering: { by: "/key" },
    });
    const keys = ["stuck", "a", "b", "c"];
    const ids: string[] = [];
    for (let n = 0; n < 15; n += 1) {
      for (const key of keys) ids.push(await post(ingest, { key, n }));
    }
    await receiver.waitFor(() => delivered.length === 45, 30_000);
    isStuck = false;
    await Promise.all(ids.map((id) => eventReaches(account.owner, id, "Succeeded")));
    const expected = Array.from({ length: 15 }, (_, n) => n);
    for (const key of keys) {
      expect(delivered.filter((one) => one.key === key).map(({ n }) => n), key).to.deep.equal(expected);
      const tried = receiver.requestsTo("/keys").map(bodyOf).filter((one) => one.key === key).map(({ n }) => n);
      expect(tried, key).to.deep.equal(tried.toSorted((one, other) => one - other));
    }
  });

  it("goes on after a cancelled or given-up head, sends a replayed event last, and tells why it waited", async () => {
    const statuses: Readonly<Record<string, number>> = { failing: 500, gone: 410 };
    receiver.on("/one", (request) => ({ status: statuses[bodyOf(request).key] ?? 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url("/one"), ordering: "destination" });
    const head = await post(ingest, { key: "failing", n: 0 });
    await receiver.waitFor(() => receiver.requestsTo("/one").length > 0);
    const gone = await post(ingest, { key: "gone", n: 1 });
    const last = await post(ingest, { key: "last", n: 2 });
    const refused = await refusal(account.owner.patch(`/api/v1/destinations/${id}`, { ordering: "none" }));
    expect(refused).to.have.property("status", 422);
    expect(text(await account.owner.patch(`/api/v1/destinations/${id}`, { ordering: "destination" }), "ordering"))
      .to.equal("destination");
    await eventually(
      () => account.owner.post(`/api/v1/events/${head}/cancel`, {}).catch(() => ({})), (answer) => "status" in answer,
    );
    await eventReaches(account.owner, gone, "CriticalFailure");
    await eventReaches(account.owner, last, "Succeeded");
    const { items } = await account.owner.get(`/api/v1/events/${last}/history`) as { items: readonly Json[] };
    const claim = items.find(({ type }) => type === "DeliveryAttemptStarted");
    expect(claim?.["data"]).to.include({ waitedFor: "ordering" });
    const changed = await account.owner.patch(`/api/v1/destinations/${id}`, { ordering: null });
    expect(changed).to.include({ ordering: "none" });
    await account.owner.patch(`/api/v1/destinations/${id}`, { ordering: { by: "/n" } });
    await account.owner.patch(`/api/v1/destinations/${id}`, { ordering: "destination" });
    receiver.on("/one", () => ({ delayMs: 50 }));
    const before = receiver.requestsTo("/one").length;
    await post(ingest, { key: "new", n: 3 });
    await post(ingest, { key: "new", n: 4 });
    await account.owner.post(`/api/v1/events/${gone}/replay`, {});
    await post(ingest, { key: "new", n: 5 });
    await receiver.waitFor(() => receiver.requestsTo("/one").length === before + 4);
    expect(receiver.requestsTo("/one").slice(before).map((one) => bodyOf(one).n)).to.deep.equal([3, 4, 1, 5]);
  });

  it("keeps the order over a restart, and tries an open circuit with the oldest head", async () => {
    let isDown = true;
    receiver.on("/down", () => ({ status: isDown ? 500 : 200 }));
    const opening = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    const { ingest } = await opening.destination({ url: receiver.url("/down"), ordering: { by: "/key" } });
    const accepted: Numbered[] = [];
    for (let n = 0; n < 6; n += 1) {
      const event = { key: n % 2 ? "odd" : "even", n };
      const posted = await opening.producer.post(ingest, event).catch(() => null);
      if (posted) accepted.push(event);
    }
    await relay.restart();
    isDown = false;
    const sentNow = () => receiver.requestsTo("/down").map(bodyOf);
    await receiver.waitFor(() => accepted.every(({ n }) => sentNow().some((one) => one.n === n)), 30_000);
    for (const key of ["odd", "even"]) {
      const sent = sentNow().filter((one) => one.key === key).map(({ n }) => n);
      expect(sent).to.deep.equal(sent.toSorted((one, other) => one - other));
    }
  });
});
