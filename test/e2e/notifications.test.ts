import { expect } from "chai";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

describe("notifications", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  before(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
  });
  after(async () => {
    await relay.close();
    await receiver.close();
  });

  it("reach a destination, signed, when another one fails, is suspended and recovers", async () => {
    const account = await openAccount(relay.url, { maxTrys: 4, circuitBreakerTimer: 60 });
    const told = await account.destination({ url: receiver.url("/told") });
    const dead = await account.destination({ url: receiver.url("/dead") });
    receiver.on("/dead", () => ({ status: 500 }));
    await account.owner.post("/api/v1/notification-subscriptions", {
      destinationUrlId: told.id,
      types: ["destination.failing", "destination.suspended", "destination.recovered", "event.exhausted"],
    });
    const { eventId } = await account.producer.post(dead.ingest, { order: 4711 });
    const bodies = () => receiver.requestsTo("/told").map(({ at, body }) =>
      ({ at, ...JSON.parse(body.toString()) as { type: string; timestamp: string; data: object } }));
    const types = () => bodies().map(({ type }) => type).sort();
    await receiver.waitFor(() => types().length >= 3);
    expect(types()).to.deep.equal(["destination.failing", "destination.suspended", "event.exhausted"]);
    for (const { at, timestamp, data } of bodies()) {
      expect(performance.timeOrigin + at - Date.parse(timestamp), "ms since the fact").to.be.below(2_000);
      expect(data).to.include({ destinationUrlId: dead.id, eventId, url: receiver.url("/dead") });
    }
    expect(receiver.requestsTo("/told")[0]?.headers).to.include.keys("webhook-signature", "x-service-signature");

    await account.owner.patch(`/api/v1/destinations/${dead.id}`, { status: "active" });
    await receiver.waitFor(() => types().includes("destination.recovered"));
    const query = `DestinationUrlId=${told.id}&EventType=destination.recovered`;
    const listed = await account.owner.get(`/api/v1/events?${query}`);
    expect(listed["total"]).to.equal(1);
  });
});
