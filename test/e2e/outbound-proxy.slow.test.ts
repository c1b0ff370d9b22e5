import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventReaches, openAccount, startTestRelay } from "../support/relay.ts";

const outageMs = 60_000;
const everyMs = 500;

describe("an outbound proxy that is down for a minute", function () {
  this.timeout(180_000);

  it("spends no attempt and opens no circuit, and everything is delivered soon after", async () => {
    const receiver = await startReceiver();
    const proxy = await startConnectProxy();
    const relay = await startTestRelay(receiver, { RELAY_OUTBOUND_PROXY: `http://127.0.0.1:${proxy.port}` });
    const account = await openAccount(relay.url, { maxTrys: 3 });
    const { id, ingest } = await account.destination({ url: receiver.url("/hook") });
    const post = async () => text(await account.producer.post(ingest, {}), "eventId");
    await eventReaches(account.owner, await post(), "Succeeded");
    await proxy.stop();
    const ids: string[] = [];
    for (const end = performance.now() + outageMs; performance.now() < end; await wait(everyMs)) ids.push(await post());
    const attemptsOf = async (event: string) =>
      (await account.owner.get(`/api/v1/events/${event}/attempts`))["items"] as Json[];
    for (const event of ids) expect(await attemptsOf(event)).to.deep.equal([]);
    expect(await account.owner.get(`/api/v1/destinations/${id}`)).to.include({ status: "Active" });
    await proxy.start();
    for (const event of ids) {
      await eventReaches(account.owner, event, "Succeeded", 60_000);
      expect((await attemptsOf(event)).map(({ number }) => number)).to.deep.equal([1]);
    }
    expect(receiver.requests).to.have.length(ids.length + 1);
    await relay.close();
    await proxy.stop();
    await receiver.close();
  });
});
