import { expect } from "chai";
import { startSink, type Sink } from "../integration/outbound/setup.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

const codes = [301, 302, 303, 307, 308];

describe("S3 redirects, to deliveries of a running relay", () => {
  let receiver: Receiver;
  let sink: Sink;
  let relay: TestRelay;
  beforeEach(async () => {
    receiver = await startReceiver();
    sink = await startSink();
    relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "10ms" });
  });
  afterEach(async () => {
    await relay.close();
    await sink.close();
    await receiver.close();
  });

  it("are failures and are not followed, with 5 codes to 6 targets", async () => {
    const targets = [
      "/elsewhere", receiver.url("/elsewhere"), `https://127.0.0.1:${sink.port}/`, `http://127.0.0.1:${sink.port}/`,
      `//localhost:${sink.port}/`, "https://169.254.169.254/latest/meta-data/",
    ];
    const account = await openAccount(relay.url, { maxTrys: 2 });
    const moves = codes.flatMap((status) => targets.map((location, index) => ({ status, location, index })));
    const ids = await Promise.all(moves.map(async ({ status, location, index }) => {
      const path = `/moved/${status}/${index}`;
      receiver.on(path, () => ({ status, headers: { Location: location } }));
      const { ingest } = await account.destination({ url: receiver.url(path) });
      return String((await account.producer.post(ingest, {}))["eventId"]);
    }));
    for (const [index, id] of ids.entries()) {
      const path = `/api/v1/events/${id}`;
      await eventually(() => account.owner.get(path), ({ status }) => status === "CriticalFailure");
      const { items } = (await account.owner.get(`${path}/attempts`)) as { items: Record<string, unknown>[] };
      expect(items.map(({ statusCode }) => statusCode)).to.deep.equal([moves[index]?.status, moves[index]?.status]);
    }
    expect(receiver.received).to.equal(moves.length * 2);
    expect(receiver.requestsTo("/elsewhere")).to.deep.equal([]);
    expect(sink.connections).to.equal(0);
  });
});
