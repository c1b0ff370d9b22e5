import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

interface Delivery {
  readonly eventId: string;
  readonly destinationUrlId: string;
}

describe("a message to several receivers", function () {
  this.timeout(60_000);
  let receiver: Receiver;
  let relay: RelayProcess;

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it("reaches each by a delivery of its own, also one that failed first, or was held", async () => {
    receiver = await startReceiver();
    relay = await RelayProcess.start(receiver, { env: { RELAY_RETRY_SCHEDULE: "50ms" } });
    const account = await openAccount(relay.url, { maxTrys: 3 });
    const owner = relay.at(account.owner);
    let failures = 1;
    receiver.on("/flaky", () => (failures -= 1) >= 0 ? { status: 500, body: "not now" } : { status: 200, body: "ok" });
    const names = ["plain", "mapped", "flaky", "held", "unmapped"];
    const destinations = new Map<string, string>();
    for (const name of names) destinations.set((await account.destination({ url: receiver.url(`/${name}`) })).id, name);
    const { id: senderId, ingestToken } = await owner.post("/api/v1/senders", { name: "fan", fanOut: true });
    for (const [destinationUrlId, name] of destinations) {
      const expression = { mapped: "{order: n}", unmapped: "n" }[name];
      const mapping = expression === undefined ? null : { language: "jmespath", expression };
      await owner.post("/api/v1/subscriptions", { senderId, destinationUrlId, mapping });
      if (name === "held") await owner.patch(`/api/v1/destinations/${destinationUrlId}`, { status: "inactive" });
    }
    const path = `/api/v1/ingest/${account.tenantId}/${String(ingestToken)}`;
    const answer = await relay.at(account.producer).post(path, { n: 1 });
    const messageId = text(answer, "eventId");
    const deliveries = answer["deliveries"] as readonly Delivery[];
    const of = (name: string) =>
      deliveries.find(({ destinationUrlId }) => destinations.get(destinationUrlId) === name)!.eventId;
    for (const name of ["plain", "mapped", "flaky"]) await eventReaches(owner, of(name), "Succeeded");
    expect(await owner.get(`/api/v1/events/${of("unmapped")}`)).to.include({
      status: "CriticalFailure", currentRetryCount: 0,
    });
    expect(await owner.get(`/api/v1/events/${of("held")}`)).to.include({ status: "Pending" });
    expect(await owner.get(`/api/v1/messages/${messageId}`)).to.include({ status: "Pending" });
    for (const name of ["plain", "mapped", "flaky"]) {
      const requests = receiver.requests.filter(({ path: to }) => to === `/${name}`);
      expect(requests).to.have.length(name === "flaky" ? 2 : 1);
      for (const { headers, body } of requests) {
        expect(headers).to.include({ "webhook-id": messageId, "x-relay-delivery": of(name) });
        expect(String(body)).to.equal(name === "mapped" ? '{"order":1}' : '{"n":1}');
      }
    }
    const { items: attempts } = await owner.get(`/api/v1/events/${of("flaky")}/attempts`);
    expect((attempts as Json[]).map(({ responseBody }) => responseBody)).to.deep.equal(["not now", "ok"]);
    for (const { requestHeaders } of attempts as Json[]) expect(requestHeaders).to.include({ "webhook-id": messageId });
    const held = [...destinations].find(([, name]) => name === "held")![0];
    await owner.patch(`/api/v1/destinations/${held}`, { status: "active" });
    await eventReaches(owner, of("held"), "Succeeded");
    expect(await owner.get(`/api/v1/messages/${messageId}`)).to.include({ status: "CriticalFailure" });
    const { items } = await owner.get(`/api/v1/events?MessageId=${messageId}`);
    expect((items as Json[]).map(({ id }) => id)).to.have.members(deliveries.map(({ eventId }) => eventId));
  });
});
