import { expect } from "chai";
import { text, type ApiClient, type Json } from "../support/api-client.ts";
import { printed } from "../support/ledger.ts";
import { documentHashes, readLists, stopCovered } from "../support/ledger-snapshot.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

describe("read models", function () {
  this.timeout(sized(120_000, 1_800_000));
  let receiver: Receiver;
  let relay: RelayProcess;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, { env: { RELAY_RETRY_SCHEDULE: "50ms,1h" } });
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it("are the same after each of many rebuilds", async () => {
    const account = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    const { owner } = account;
    receiver.on("/well", () => ({}));
    receiver.on("/ill", () => ({ status: 500 }));
    receiver.on("/gone", () => ({ status: 410 }));
    const well = await account.destination({ url: receiver.url("/well") });
    const ill = await account.destination({ url: receiver.url("/ill"), serverRateLimit: 1 });
    const gone = await account.destination({ url: receiver.url("/gone") });
    const doomed = await account.destination({ url: receiver.url("/ill") });
    const post = async (ingest: string, n: number) =>
      text(await account.producer.post(ingest, { n }, { "x-idempotency-key": `${ingest} ${n}` }), "eventId");
    for (let n = 0; n < 40; n += 1) await eventReaches(owner, await post(well.ingest, n), "Succeeded");
    await eventReaches(owner, await post(gone.ingest, 1), "CriticalFailure");
    const cancelled = await post(doomed.ingest, 1);
    await eventReaches(owner, cancelled, "WaitingRetry");
    for (let n = 0; n < 2; n += 1) await eventReaches(owner, await post(ill.ingest, n), "WaitingRetry");
    const { id: userId } = await owner.post("/api/v1/users", { email: "a@example.com", password: "12345678" });
    const { id: deleted } = await owner.post("/api/v1/users", { email: "b@example.com", password: "12345678" });
    await owner.patch(`/api/v1/users/${String(userId)}`, { email: "c@example.com", role: 1 });
    await owner.delete(`/api/v1/users/${String(deleted)}`);
    await owner.delete(`/api/v1/destinations/${doomed.id}`);
    await eventReaches(owner, cancelled, "Cancelled");
    await owner.patch(`/api/v1/destinations/${ill.id}`, { status: "inactive" });
    const { id: keyId } = await owner.post("/api/v1/api-keys", { name: "revoked" });
    await owner.delete(`/api/v1/api-keys/${String(keyId)}`);
    await eventReaches(owner, await post(well.ingest, 1_000), "Succeeded");

    const recent = Date.now() - 600_000;
    const before = await readLists(owner, recent);
    const statuses = Object.entries(before.totals).filter(([filter, total]) => filter.startsWith(" ") && total > 0);
    expect(statuses.map(([filter]) => filter.trim())).to.include.members(["Succeeded", "CriticalFailure", "Cancelled"]);
    await stopCovered(relay, owner);
    const hashes = documentHashes(relay.dataDir);
    for (const time of ["once", "twice"]) {
      const { code, stderr } = await relay.command("rebuild");
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
      expect(documentHashes(relay.dataDir), `dropped ${time}`).to.deep.equal(hashes);
      await relay.start();
      expect(await readLists(relay.at(owner), recent)).to.deep.equal(before);
      await relay.sigterm();
    }
  });

  it("show every write to the next reader", async () => {
    const account = await openAccount(relay.url);
    const { owner, producer } = account;
    const { ingest } = await account.destination({ url: receiver.url("/hook"), serverRateLimit: 100 });
    let written = 0;
    let stale = 0;
    const lists = async (path: string, id: unknown) => {
      const { items } = (await owner.get(path)) as { items: Json[] };
      written += 1;
      if (!items.some((item) => item["id"] === id)) stale += 1;
    };
    const writes: readonly ((n: number) => Promise<void>)[] = [
      async () => {
        const { eventId } = await producer.post(ingest, {});
        await lists("/api/v1/events?Qt=100", eventId);
      },
      async (n) => {
        const { id } = await owner.post("/api/v1/destinations", { url: receiver.url(`/${n}`) });
        await lists("/api/v1/destinations?CpOrd=createdAt&TpOrd=Desc&Qt=100", id);
      },
      async (n) => {
        const { id } = await owner.post("/api/v1/users", { email: `user-${n}@example.com`, password: "12345678" });
        await lists("/api/v1/users?CpOrd=createdAt&TpOrd=Desc&Qt=100", id);
        await owner.delete(`/api/v1/users/${String(id)}`);
        const { items } = (await owner.get("/api/v1/users?CpOrd=createdAt&TpOrd=Desc")) as { items: Json[] };
        if (items.some((item) => item["id"] === id)) stale += 1;
      },
    ];
    const wanted = sized(150, 10_000);
    let next = 0;
    const writer = async () => {
      for (let n = next++; n < wanted; n = next++) await writes[n % writes.length]?.(n);
    };
    await Promise.all(Array.from({ length: 6 }, writer));
    printed("written, then read", { written, stale });
    expect({ written, stale }).to.deep.equal({ written: wanted, stale: 0 });
  });

  it("are rebuilt only while no relay runs", async () => {
    const { code, stdout, stderr } = await relay.command("rebuild");
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    const problem = `RELAY_DATA_DIR: the data folder ${relay.dataDir} is in use by another process`;
    expect(stderr).to.equal(`the read models cannot be rebuilt: ${problem}\n`);
    await stillWell(relay);
  });
});

async function stillWell({ url }: RelayProcess): Promise<void> {
  const owner: ApiClient = (await openAccount(url)).owner;
  expect((await owner.get("/api/v1/events"))["total"]).to.equal(0);
}
