import { expect } from "chai";
import type { Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type Account, type TestRelay } from "../support/relay.ts";

describe("the pace of deliveries to one receiver", function () {
  this.timeout(180_000);
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;

  beforeEach(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
    account = await openAccount(relay.url);
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });

  const post = async (ingest: string, count: number) => {
    for (let n = 0; n < count; n += 1) await account.producer.post(ingest, { n });
  };
  const succeeded = async () => Number((await account.owner.get("/api/v1/events?Status=Succeeded"))["total"]);

  it("follows a receiver that takes 2 a second and answers 429: it gets all 60 events, and stays active", async () => {
    let taken: number[] = [];
    receiver.on("/slow", ({ at }) => {
      taken = taken.filter((before) => before > at - 1_000);
      if (taken.length >= 2) return { status: 429, headers: { "retry-after": "1" } };
      taken.push(at);
      return {};
    });
    const { id, ingest } = await account.destination({ url: receiver.url("/slow") });
    await post(ingest, 60);
    await eventually(succeeded, (count) => count === 60, 120_000);
    const { items } = await account.owner.get(`/api/v1/destinations/${id}/circuit/history?Qt=100`);
    expect((items as Json[]).map(({ type }) => type)).to.not.include("CircuitOpened");
    expect(receiver.requests.length).to.be.above(90);
  });

  it("is 590 to 601 requests in a minute at a rate of 10 a second", async () => {
    const { ingest } = await account.destination({ url: receiver.url("/steady"), ratePerSecond: 10 });
    await post(ingest, 700);
    const { requests } = receiver;
    await receiver.waitFor(() => requests.length > 0);
    const from = requests[0]!.at;
    await receiver.waitFor(() => requests.at(-1)!.at > from + 61_000, 120_000);
    expect(requests.filter(({ at }) => at <= from + 60_000).length).to.be.within(590, 601);
  });
});
