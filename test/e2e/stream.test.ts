import { expect } from "chai";
import { EventStream, type Frame } from "../support/event-stream.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

/** Far longer than a drain takes, so that a drain until the timeout fails the test. */
const shutdownTimeoutMs = 25_000;
const soonMs = 10_000;

describe("the stream of the real process", function () {
  this.timeout(sized(120_000, 600_000));
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;
  let ingest: string;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, { env: { RELAY_SHUTDOWN_TIMEOUT: `${shutdownTimeoutMs}ms` } });
    account = await openAccount(relay.url);
    ({ ingest } = await account.destination({ url: receiver.url("/hook"), serverRateLimit: 20 }));
  });
  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  const follow = (lastId: string | null = null) => EventStream.open(`${relay.url}/api/v1/stream?Kinds=event`, {
    ...account.owner.headers, ...(lastId === null ? {} : { "last-event-id": lastId }),
  });
  const post = async () => String((await relay.at(account.producer).post(ingest, {}))["eventId"]);
  const placeOf = ({ id }: Frame) => id;

  it("tells each fact once over kills and restarts, to a client that goes on behind its last frame", async () => {
    const posted: string[] = [];
    const frames: Frame[] = [];
    let stream = await follow();
    for (let life = 0; life < sized(2, 20); life += 1) {
      for (let count = 0; count < 30; count += 1) posted.push(await post());
      await stream.until(({ length }) => length > 0, 30_000);
      await relay.kill9();
      expect(await stream.ended, "the connection is cut").to.be.instanceOf(Error);
      frames.push(...stream.frames);
      await relay.start();
      const { lastId } = stream;
      for (let count = 0; count < 5; count += 1) posted.push(await post());
      stream = await follow(lastId);
    }
    const delivered = (seen: readonly Frame[]) =>
      [...frames, ...seen].filter(({ data }) => data["to"] === "Succeeded").length;
    await stream.until((seen) => delivered(seen) === posted.length, 60_000);
    frames.push(...stream.frames);
    await stream.close();
    const accepted = frames.filter(({ data }) => data["type"] === "EventAccepted");
    expect(accepted.map(({ data }) => data["eventId"])).to.deep.equal(posted);
    const places = frames.map(placeOf);
    expect(new Set(places)).to.have.length(places.length);
    expect(places).to.deep.equal([...places].sort());
  });

  it("says at SIGTERM that the process ends, and does not hold the exit up", async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => follow()));
    const { code, durationMs } = await relay.sigterm();
    expect(code).to.equal(0);
    expect(durationMs).to.be.below(soonMs);
    for (const stream of streams) {
      expect(await stream.ended).to.equal(null);
      expect(stream.frames.at(-1)).to.deep.equal({ event: "end", data: { reason: "shutdown" }, id: null });
    }
    await relay.start();
    await eventually(async () => (await follow()).status, (status) => status === 200);
  });
});
