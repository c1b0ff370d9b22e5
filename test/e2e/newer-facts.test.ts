import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { SpoiledLog, type LogRow } from "../support/spoiled-log.ts";

const env = { RELAY_DELIVERY_TIMEOUT: "1s", RELAY_RETRY_SCHEDULE: "300ms" };
const newer = "cannot be read by this process: a newer release of the relay wrote a part of it";
/** Ticks of CPU time in a second, as the kernel counts them. */
const ticks = 100;
const watchedMs = 2_000;

describe("facts of a newer release in the log", function () {
  this.timeout(60_000);
  let receiver: Receiver;
  let relay: RelayProcess;
  let healthy: boolean;
  let account: Account;

  beforeEach(async () => {
    healthy = false;
    receiver = await startReceiver({ script: () => ({ status: healthy ? 200 : 500 }) });
    relay = await RelayProcess.start(receiver, { env });
    account = await openAccount(relay.url, { maxTrys: 1_000 });
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  const post = async (ingest: string, body: Json = {}) =>
    text(await relay.at(account.producer).post(ingest, body), "eventId");
  const unknownType = (row: LogRow): LogRow => ({ ...row, type: "EventAnnotated", data: '{"note":"kept"}' });
  const unknownVersion = (row: LogRow): LogRow => {
    const metadata = { ...(JSON.parse(row.metadata) as Json), schemaVersion: 99 };
    return { ...row, metadata: JSON.stringify(metadata) };
  };
  /** Plants entries of a newer release while no relay runs, then starts one with healthy receivers. */
  const planted = async (plant: (log: SpoiledLog) => void) => {
    await relay.sigterm();
    const log = new SpoiledLog(relay.dataDir);
    plant(log);
    log.close();
    healthy = true;
    await relay.start();
  };
  /** CPU time of the relay's process so far, seconds; 0 if the system does not report it. */
  const cpuSeconds = () => {
    if (!existsSync(`/proc/${relay.pid}/stat`)) return 0;
    const [user = 0, system = 0] = readFileSync(`/proc/${relay.pid}/stat`, "utf8")
      .split(") ")[1]!.split(" ").slice(11, 13).map(Number);
    return (user + system) / ticks;
  };
  const answer = async (path: string) => {
    const response = await fetch(relay.url + path, { headers: account.owner.headers });
    return [response.status, await response.text()];
  };

  it("hold up only their own event, circuit and destination, at little cost", async () => {
    const sound = await account.destination({ url: receiver.url("/sound") });
    const [circuit, destination] = [
      await account.destination({ url: receiver.url("/circuit") }),
      await account.destination({ url: receiver.url("/destination") }),
    ];
    const waiting = [await post(sound.ingest), await post(circuit.ingest), await post(destination.ingest)];
    const [annotated = "", ofCircuit = "", ofDestination = ""] = waiting;
    const neighbour = await post(sound.ingest);
    for (const id of [...waiting, neighbour]) await eventReaches(account.owner, id, "WaitingRetry");
    let before = 0;
    await planted((log) => {
      before = receiver.requests.length;
      log.plant(streams.event(annotated), unknownType(log.last(streams.event(annotated))));
      for (const stream of [streams.circuit(circuit.id), streams.destination(destination.id)]) {
        log.plant(stream, unknownVersion(log.last(stream)));
      }
    });
    const owner = relay.at(account.owner);
    await eventReaches(owner, neighbour, "Succeeded");
    await eventReaches(owner, await post(sound.ingest), "Succeeded");
    const fresh = await post(circuit.ingest);
    const [cpu, lines] = [cpuSeconds(), relay.lines.length];
    await pause(watchedMs);

    expect(cpuSeconds() - cpu, "seconds of CPU").to.be.lessThan((watchedMs / 1_000) * 0.5);
    const told = relay.lines.slice(lines);
    expect(told.length, JSON.stringify(told)).to.be.lessThan(10);
    const sent = receiver.requests.slice(before).map(({ headers }) => headers["webhook-id"]);
    expect(sent).to.have.length(2);
    expect(sent).not.to.include.members([...waiting, fresh]);
    const shown = await Promise.all([ofCircuit, ofDestination, fresh].map((id) => owner.get(`/api/v1/events/${id}`)));
    expect(shown.map(({ status }) => status)).to.deep.equal(["WaitingRetry", "WaitingRetry", "Pending"]);
    expect(await answer(`/api/v1/events/${annotated}`)).to.deep.equal([503, `this event's record ${newer}`]);
    expect(await answer(`/api/v1/destinations/${destination.id}`))
      .to.deep.equal([503, `the record ${streams.destination(destination.id)} ${newer}`]);
    expect((await owner.get("/api/v1/events?Qt=100"))["total"]).to.equal(6);

    await relay.sigterm();
    const { code, stderr } = await relay.command("erase-tenant", account.tenantId, "--yes");
    expect([code, stderr]).to.deep.equal([1, "the tenant cannot be erased: a newer release of the relay wrote an entry "
      + `of type EventAnnotated into the stream ${streams.event(annotated)}: erase the tenant with that release, which `
      + "can tell all that belongs to it\n"]);
  });
});
