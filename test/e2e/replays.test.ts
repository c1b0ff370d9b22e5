import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

const count = sized(300, 1_000_000);
const kills = sized(3, 20);
/** Events posted at once. */
const together = 50;

describe("a replay to another destination", () => {
  let receiver: Receiver;
  let relay: RelayProcess;
  /** The bodies that came to the replay's destination, by `webhook-id`. */
  const received = new Map<string, string>();
  before(async () => {
    receiver = await startReceiver({
      record: false,
      script: ({ path, headers, body }) => {
        if (path === "/target") received.set(String(headers["webhook-id"]), body.toString());
        return { status: 204 };
      },
    });
    relay = await RelayProcess.start(receiver);
  });
  after(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it(`makes one new event of each of ${count}, with its bytes, though killed ${kills} times`, async function () {
    this.timeout(sized(600_000, 14_400_000));
    const account = await openAccount(relay.url);
    const source = await account.destination({ url: receiver.url("/source"), serverRateLimit: 100 });
    const target = await account.destination({ url: receiver.url("/target"), serverRateLimit: 100 });
    const bodies = new Map<string, string>();
    for (let n = 0; n < count; n += together) {
      await Promise.all(Array.from({ length: Math.min(together, count - n) }, async (_, at) => {
        const body = `{"n": ${n + at}.0, "big": 12345678901234567890}`;
        const headers = { ...account.producer.headers, "content-type": "application/json" };
        const answer = await fetch(relay.url + source.ingest, { method: "POST", headers, body });
        bodies.set(text((await answer.json()) as Json, "eventId"), body);
      }));
    }
    const at = () => relay.at(account.owner);
    const total = async (query: string) => Number((await at().get(`/api/v1/events?Qt=1&${query}`))["total"]);
    await eventually(() => total("Status=Succeeded"), (succeeded) => succeeded === count, sized(60_000, 3_600_000));

    const order = { status: "Succeeded", toDestinationUrlId: target.id, perSecond: 1_000 };
    const id = text(await at().post("/api/v1/replays", order), "id");
    for (let kill = 1; kill <= kills; kill += 1) {
      const reached = (kill * count) / (kills + 1);
      await receiver.waitFor(() => received.size >= reached, sized(60_000, 3_600_000));
      await relay.kill9();
      await relay.start();
    }
    const replay = await eventually(
      () => at().get(`/api/v1/replays/${id}`), ({ state }) => state !== "Running", sized(120_000, 3_600_000));
    expect(replay).to.include({ state: "Finished", matched: count, done: count, skipped: 0 });

    const made = new Map<string, string>();
    for (let cursor = ""; cursor !== "null";) {
      const page = await at().get(`/api/v1/events?DestinationUrlId=${target.id}&Qt=100&Total=false${cursor}`);
      for (const event of page["items"] as { id: string; sourceEventId: string; payload: string }[]) {
        expect(made.has(event.sourceEventId), `a second event of ${event.sourceEventId}`).to.equal(false);
        expect(event.payload).to.equal(bodies.get(event.sourceEventId));
        made.set(event.sourceEventId, event.id);
      }
      const next = page["nextCursor"] as string | null;
      cursor = next === null ? "null" : `&Cursor=${next}`;
    }
    expect(made.size).to.equal(count);
    await eventually(
      () => total(`DestinationUrlId=${target.id}&Status=Succeeded`), (succeeded) => succeeded === count,
      sized(120_000, 3_600_000));
    expect(received.size).to.equal(count);
    for (const [sourceId, newId] of made) expect(received.get(newId)).to.equal(bodies.get(sourceId));
  });
});
