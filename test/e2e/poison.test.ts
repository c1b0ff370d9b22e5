import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { text, type Json } from "../support/api-client.ts";
import { documentHashes, stopCovered } from "../support/ledger-snapshot.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { SpoiledLog, type LogRow } from "../support/spoiled-log.ts";

const env = { RELAY_DELIVERY_TIMEOUT: "1s", RELAY_RETRY_SCHEDULE: "300ms" };
/** A part of all planted entries: it must not appear anywhere. */
const marker = "do-not-show";
const quarantine = 'relay_troubles_total{kind="stream set aside"}';
const waits = 'relay_troubles_total{kind="stream of a newer release"}';

describe("poison in the log", function () {
  this.timeout(60_000);
  let receiver: Receiver;
  let relay: RelayProcess;
  let healthy: boolean;

  beforeEach(async () => {
    healthy = false;
    receiver = await startReceiver({ script: () => ({ status: healthy ? 200 : 500 }) });
    relay = await RelayProcess.start(receiver, { env });
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  async function post(account: Account, ingest: string, body: Json = {}): Promise<string> {
    return text(await relay.at(account.producer).post(ingest, body), "eventId");
  }

  async function statusOf(account: Account, path: string, method = "GET"): Promise<number> {
    const headers = { ...account.owner.headers, "content-type": "application/json" };
    const init = method === "GET" ? { headers } : { method, headers, body: "{}" };
    return (await fetch(relay.url + path, init)).status;
  }

  /** Plants rows while no relay runs, then starts one with healthy receivers. */
  async function planted(spoil: (log: SpoiledLog) => void): Promise<void> {
    await relay.sigterm();
    const log = new SpoiledLog(relay.dataDir);
    spoil(log);
    log.close();
    healthy = true;
    await relay.start();
  }

  const garbage = (row: LogRow): LogRow => ({ ...row, data: `{"${marker}` });
  const unknownType = (row: LogRow): LogRow => ({ ...row, type: "EventTeleported", data: `{"text":"${marker}"}` });
  const unknownVersion = (row: LogRow): LogRow => {
    const metadata = { ...(JSON.parse(row.metadata) as Json), schemaVersion: 99 };
    return { ...row, metadata: JSON.stringify(metadata), data: `{"text":"${marker}"}` };
  };

  it("quarantines each event with an unreadable history, reports it, and delivers its neighbours", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1_000 });
    const neighbour = await openAccount(relay.url, { maxTrys: 1_000 });
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const { ingest: otherIngest } = await neighbour.destination({ url: receiver.url("/other") });
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await post(account, ingest, { n }));
    const other = await post(neighbour, otherIngest);
    for (const id of ids) await eventReaches(account.owner, id, "WaitingRetry");
    const [broken, teleported, future, ...sound] = ids as [string, string, string, ...string[]];
    const neverThere = randomUUID();
    await planted((log) => {
      log.plant(streams.event(broken), garbage(log.last(streams.event(broken))));
      log.plant(streams.event(teleported), unknownType(log.last(streams.event(teleported))));
      log.plant(streams.event(future), unknownVersion(log.last(streams.event(future))));
      log.plant(streams.event(neverThere), garbage({ ...log.last(streams.event(broken)), type: "EventAccepted" }));
    });
    const owner = relay.at(account.owner);
    const before = receiver.requests.length;
    const fresh = await post(account, ingest, { n: "fresh" });
    for (const id of [...sound, fresh]) await eventReaches(owner, id, "Succeeded");
    await eventReaches(relay.at(neighbour.owner), other, "Succeeded");

    const poisoned = [broken, teleported, future];
    for (const id of [...poisoned, neverThere]) {
      expect(await statusOf(account, `/api/v1/events/${id}`), "the event").to.equal(503);
      expect(await statusOf(account, `/api/v1/events/${id}/history`), "its history").to.equal(503);
      expect(await statusOf(account, `/api/v1/events/${id}/cancel`, "POST"), "a change of it").to.equal(503);
    }
    const { total, items } = await owner.get("/api/v1/events?Qt=100") as { total: number; items: Json[] };
    expect(items).to.have.length(total);
    expect(items.map(({ id }) => id)).to.have.members([...ids, fresh]);
    const known = items.filter(({ id }) => poisoned.includes(String(id))).map(({ status }) => status);
    expect(known, "as it was last known").to.deep.equal(["WaitingRetry", "WaitingRetry", "WaitingRetry"]);
    const sent = receiver.requests.slice(before).map(({ headers }) => headers["webhook-id"]);
    for (const id of poisoned) expect(sent, "nothing is sent of what cannot be read").not.to.include(id);

    expect(await relay.metric(quarantine)).to.equal(2);
    expect(await relay.metric(waits)).to.equal(2);
    const told = (line: string) => relay.lines.filter(({ msg }) => msg === line).map(({ stream }) => stream);
    expect(told("an entry cannot be read: its stream is quarantined"))
      .to.have.members([broken, neverThere].map((id) => streams.event(id)));
    expect(told("a fact of a newer release: its stream waits for a process that can read it"))
      .to.have.members([teleported, future].map((id) => streams.event(id)));
    expect(JSON.stringify(relay.lines)).not.to.include(marker);

    await relay.kill9();
    await relay.start();
    expect(await eventually(() => relay.metric(quarantine), (count = 0) => count >= 2)).to.equal(2);
    expect(await eventually(() => relay.metric(waits), (count = 0) => count >= 2)).to.equal(2);
    await stopCovered(relay, account.owner);
    const hashes = documentHashes(relay.dataDir);
    expect((await relay.command("rebuild")).code).to.equal(0);
    expect(documentHashes(relay.dataDir)).to.deep.equal(hashes);
  });

  it("holds up an unreadable destination, key or tenant, and no other", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1_000 });
    const lost = await openAccount(relay.url, { maxTrys: 1_000 });
    const held = await account.destination({ url: receiver.url("/held") });
    const sound = await account.destination({ url: receiver.url("/sound") });
    const lostDestination = await lost.destination({ url: receiver.url("/lost") });
    const waiting = await post(account, held.ingest);
    const soundWaiting = await post(account, sound.ingest);
    const lostWaiting = await post(lost, lostDestination.ingest);
    await eventReaches(account.owner, waiting, "WaitingRetry");
    await eventReaches(lost.owner, lostWaiting, "WaitingRetry");
    const heldBack = () => receiver.requestsTo("/held").length + receiver.requestsTo("/lost").length;
    let before = 0;
    await planted((log) => {
      before = heldBack();
      for (const stream of [`destination-${held.id}`, `tenant-${lost.tenantId}`]) {
        log.plant(stream, unknownVersion(log.last(stream)));
      }
    });
    const owner = relay.at(account.owner);
    await eventReaches(owner, soundWaiting, "Succeeded");
    await eventReaches(owner, await post(account, sound.ingest), "Succeeded");
    const refused = await fetch(relay.url + held.ingest, {
      method: "POST", headers: { ...account.producer.headers, "content-type": "application/json" }, body: "{}",
    });
    expect(refused.status).to.equal(503);
    expect(await statusOf(lost, `/api/v1/tenants/${lost.tenantId}`)).to.equal(503);
    expect((await owner.get(`/api/v1/events/${waiting}`))["status"]).to.equal("WaitingRetry");
    expect((await owner.get("/api/v1/destinations"))["total"]).to.equal(2);
    expect(await relay.metric(waits)).to.equal(2);
    expect(heldBack(), "requests that nobody can answer for").to.equal(before);
  });

  it("quarantines a tenant with a user whose address cannot be opened, and projects all others", async () => {
    const lost = await openAccount(relay.url);
    const account = await openAccount(relay.url);
    await planted((log) => {
      const created = log.last(`tenant-${lost.tenantId}`);
      const data = JSON.parse(created.data) as Json;
      const sealed = text(data, "email");
      const other = sealed.at(-8) === "A" ? "B" : "A";
      const email = `${sealed.slice(0, -8)}${other}${sealed.slice(-7)}`;
      log.plant(`tenant-${lost.tenantId}`, { ...created, data: JSON.stringify({ ...data, email }) });
    });
    const owner = relay.at(account.owner);
    const { id } = await owner.post("/api/v1/users", { email: "one-more@example.com", password: "12345678" });
    const { items } = (await owner.get("/api/v1/users")) as { items: Json[] };
    expect(items.map((user) => user["id"])).to.include(id);
    expect(await relay.metric(quarantine)).to.equal(1);
  });

  it("gives up lost attempts although those of an unreadable tenant stay", async () => {
    const lost = await openAccount(relay.url);
    const account = await openAccount(relay.url);
    receiver.on("/silent", () => (healthy ? {} : "silence"));
    const lostDestination = await lost.destination({ url: receiver.url("/silent") });
    const destination = await account.destination({ url: receiver.url("/silent") });
    await post(lost, lostDestination.ingest);
    await receiver.waitFor(({ received }) => received === 1);
    const id = await post(account, destination.ingest);
    await receiver.waitFor(({ received }) => received === 2);
    await relay.kill9();
    await planted((log) => log.plant(`tenant-${lost.tenantId}`, unknownType(log.last(`tenant-${lost.tenantId}`))));
    await eventReaches(relay.at(account.owner), id, "Succeeded", 15_000);
    expect(await relay.metric('relay_troubles_total{kind="attempt not given up"}')).to.be.greaterThan(0);
    expect(await relay.metric('relay_troubles_total{kind="sweeper"}'), "sweeps that failed").to.equal(0);
  });

  it("skips an event damaged in place, without holding up later events", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1_000 });
    const { ingest } = await account.destination({ url: receiver.url("/hook"), serverRateLimit: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await post(account, ingest, { n }));
    const [spoiled = "", second = "", ...behind] = ids;
    await eventReaches(account.owner, ids.at(-1) ?? "", "WaitingRetry");
    // A list waits for the projections, which have then read these events and will not read them again.
    await account.owner.get("/api/v1/events");
    await planted((log) => {
      log.spoilFirst(streams.event(spoiled));
      log.spoilFirst(streams.event(second));
    });
    const startedAt = performance.now();
    for (const id of behind) await eventReaches(relay.at(account.owner), id, "Succeeded");
    expect(performance.now() - startedAt).to.be.lessThan(5_000);
    expect(await statusOf(account, `/api/v1/events/${spoiled}`)).to.equal(503);
    expect(await relay.metric('relay_troubles_total{kind="event not readable"}')).to.be.greaterThan(0);
  });

  it("rebuilds read models if it finds a damaged page while it runs", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    healthy = true;
    await eventReaches(account.owner, await post(account, ingest), "Succeeded");
    await relay.sigterm();
    damageTable(join(relay.dataDir, "read-models.db"), "c_events");
    await relay.start();
    const list = () => relay.at(account.owner).get("/api/v1/events").catch(() => null);
    const page = await eventually(list, (answer) => answer !== null);
    expect(page?.["total"]).to.equal(1);
    expect(await relay.metric('relay_troubles_total{kind="projection"}')).to.be.greaterThan(0);
  });

  it("rebuilds damaged read models, and names other damaged files that it needs", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    healthy = true;
    const id = await post(account, ingest);
    await eventReaches(account.owner, id, "Succeeded");
    await relay.sigterm();
    const spoil = (file: string) => {
      for (const suffix of ["-wal", "-shm"]) rmSync(join(relay.dataDir, file + suffix), { force: true });
      writeFileSync(join(relay.dataDir, file), "this is no database, and long enough to be taken for one ".repeat(200));
    };
    spoil("read-models.db");
    await relay.start();
    const list = () => relay.at(account.owner).get("/api/v1/events").catch(() => null);
    const page = await eventually(list, (answer) => answer !== null);
    expect(page?.["total"]).to.equal(1);
    await relay.sigterm();
    for (const file of ["state.db", "log.db"]) {
      const whole = readFileSync(join(relay.dataDir, file));
      spoil(file);
      const { code, stdout, stderr } = await relay.command();
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
      const path = join(relay.dataDir, file);
      expect(stderr).to.equal(`the relay cannot start: RELAY_DATA_DIR: ${path}: file is not a database\n`);
      writeFileSync(path, whole);
    }
  });
});

/** Overwrites the first page of a table of a SQLite file. */
function damageTable(file: string, table: string): void {
  const database = new DatabaseSync(file);
  const { page, size } = database
    .prepare("SELECT rootpage AS page, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = ?")
    .get(table) as { page: number; size: number };
  database.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(size, 0x5a), 0, size, (page - 1) * size);
  closeSync(descriptor);
}
