import { execFileSync } from "node:child_process";
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createLogger } from "../../src/engines/pino/logger.ts";
import { readConfig } from "../../src/main/config/config.ts";
import { readSecrets } from "../../src/main/config/secrets.ts";
import { atDesk } from "../../src/main/operator/commands.ts";
import { text, type Json } from "../support/api-client.ts";
import { documentHashes, stopCovered } from "../support/ledger-snapshot.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

describe("a purge, in the files of the embedded engines", () => {
  let receiver: Receiver;
  let relay: RelayProcess;
  beforeEach(async () => {
    receiver = await startReceiver({ script: ({ path }) => ({ status: path === "/bad" ? 500 : 204 }) });
    relay = await RelayProcess.start(receiver, { env: { RELAY_RETRY_SCHEDULE: "1h" } });
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });

  /** Files of the data folder that hold the text. */
  const filesWith = (wanted: string) =>
    execFileSync("sh", ["-c", 'grep -rla "$0" "$1" || true', wanted, relay.dataDir], { encoding: "utf8" })
      .split("\n").filter((line) => line !== "").map((file) => file.split("/").at(-1));
  const gone = (canary: string) => eventually(async () => filesWith(canary), (files) => files.length === 0);
  const through = () =>
    eventually(async () => relay.lines.some(({ msg }) => msg?.startsWith("a purge is through")), Boolean);
  const at = (account: Account) => relay.at(account.owner);
  const post = async (account: Account, ingest: string, body: Json, headers: Record<string, string> = {}) =>
    text(await relay.at(account.producer).as(headers).post(ingest, body), "eventId");
  const list = async (account: Account) => {
    const { total, items } = (await at(account).get("/api/v1/events?Qt=100")) as { total: number; items: Json[] };
    expect(total).to.equal(items.length);
    return items.map((item) => text(item, "id"));
  };
  /** Posts events with the canary in each, and waits for their delivery. */
  const delivered = async (account: Account, ingest: string, canary: string, count: number) => {
    const ids = await Promise.all(Array.from({ length: count }, (_, n) => post(account, ingest, { n, canary })));
    await eventually(
      async () => Number((await at(account).get("/api/v1/events?Status=Succeeded&Qt=1"))["total"]),
      (total) => total === count,
    );
    return ids;
  };
  const purge = async (account: Account, filter: Json = {}) => {
    const url = `${relay.url}/api/v1/events/purge`;
    const headers = { ...account.owner.headers, "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body: JSON.stringify(filter) })).status).to.equal(204);
  };
  /** The facts about the purges of a tenant in the log of a stopped relay. */
  const purgeFacts = (tenantId: string) => {
    const config = readConfig(relay.environment);
    const settings = { config, secrets: readSecrets(relay.environment, config), logger: createLogger("silent") };
    return atDesk(settings, async ({ store }) => {
      const facts = await store.readStream(`purges-${tenantId}`);
      return facts.flatMap((fact) => (fact.unreadable === undefined ? [fact] : []));
    });
  };

  it("takes deliveries one by one, and a message with the last of them, also after a rebuild", async () => {
    const account = await openAccount(relay.url);
    const destinations = [1, 2].map(() => account.destination({ url: receiver.url("/good") }));
    const [first, second] = [(await destinations[0]!).id, (await destinations[1]!).id];
    const sender = await at(account).post("/api/v1/senders", { name: "fan", fanOut: true });
    const senderId = text(sender, "id");
    const ingest = `/api/v1/ingest/${account.tenantId}/${text(sender, "ingestToken")}`;
    const nothing = await post(account, ingest, { canary: "canary-of-messages" });
    for (const destinationUrlId of [first, second]) {
      await at(account).post("/api/v1/subscriptions", { senderId, destinationUrlId });
    }
    const key = { "x-idempotency-key": "fan-1" };
    const message = await post(account, ingest, { canary: "canary-of-messages" }, key);
    const deliveries = async () => {
      const found = await at(account).get(`/api/v1/messages/${message}`);
      return (found["deliveries"] as { destinationUrlId: string; status: string | null }[])
        .map(({ destinationUrlId, status }) => [destinationUrlId, status]);
    };
    await eventually(async () => (await at(account).get(`/api/v1/messages/${message}`))["status"], (status) =>
      status === "Succeeded");
    await purge(account, { destinationUrlId: first });
    await through();
    expect(await deliveries()).to.have.deep.members([[first, null], [second, "Succeeded"]]);
    expect(await list(account)).to.have.length(1);
    await stopCovered(relay, account.owner);
    const hashes = () => documentHashes(relay.dataDir, account.tenantId);
    const before = hashes();
    expect((await relay.command("rebuild")).code).to.equal(0);
    expect(hashes()).to.deep.equal(before);
    await relay.start();
    expect(await deliveries()).to.have.deep.members([[first, null], [second, "Succeeded"]]);
    expect(await list(account)).to.have.length(1);
    await purge(account);
    expect(await list(account)).to.deep.equal([]);
    for (const id of [message, nothing]) {
      const answer = await fetch(`${relay.url}/api/v1/messages/${id}`, { headers: { ...account.owner.headers } });
      expect(answer.status).to.equal(404);
    }
    await gone("canary-of-messages");
    await eventually(() => at(account).get("/api/v1/messages"), ({ total }) => total === 0);
    expect(await post(account, ingest, { n: 1 }, key)).not.to.equal(message);
  });

  it("leaves no byte of purged events, all of the others, and one fact", async () => {
    const account = await openAccount(relay.url);
    const good = await account.destination({ url: receiver.url("/good") });
    const bad = await account.destination({ url: receiver.url("/bad") });
    const ids = await delivered(account, good.ingest, "canary-of-the-purged", 40);
    const kept = await post(account, bad.ingest, { canary: "canary-of-the-kept" });
    await eventReaches(account.owner, kept, "WaitingRetry");
    expect(filesWith("canary-of-the-purged")).to.include("log.db-wal");
    await purge(account);
    expect(await list(account)).to.deep.equal([kept]);
    for (const id of ids.slice(0, 3)) {
      const answer = await fetch(`${relay.url}/api/v1/events/${id}`, { headers: { ...account.owner.headers } });
      expect(answer.status).to.equal(404);
    }
    await gone("canary-of-the-purged");
    expect(filesWith("canary-of-the-kept")).to.not.be.empty;
    await through();
    await relay.sigterm();
    const facts = await purgeFacts(account.tenantId);
    const purged = facts.filter(({ type }) => type === "EventsPurged");
    expect(purged.map(({ data }) => data)).to.have.length(1);
    expect(purged[0]?.data).to.include({ matched: 40, before: null, status: null, destinationId: null });
    expect(purged[0]?.metadata.actor).to.include({ type: "user", role: "Owner" });
  });

  it("leaves no byte in a log restored from a backup, either", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/good") });
    await delivered(account, ingest, "canary-of-the-purged", 40);
    const backup = join(relay.dataDir, "..", "backup");
    expect(await relay.command("backup", backup)).to.include({ code: 0 });
    await relay.sigterm();
    cpSync(join(relay.dataDir, "master.key"), join(backup, "master.key"));
    rmSync(relay.dataDir, { recursive: true });
    renameSync(backup, relay.dataDir);
    await relay.start();
    expect(filesWith("canary-of-the-purged")).to.include("log.db");
    await purge(account);
    await gone("canary-of-the-purged");
  });

  it("goes on after a kill, and read models rebuilt at any time are the same", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/good") });
    await delivered(account, ingest, "canary-of-the-purged", 600);
    const key = { "x-idempotency-key": "kept" };
    await purge(account);
    await relay.kill9();
    expect(await relay.command("rebuild")).to.include({ code: 0 });
    await relay.start();
    expect(await list(account)).to.deep.equal([]);
    const kept = await post(account, ingest, { canary: "canary-of-the-kept" }, key);
    await eventReaches(at(account), kept, "Succeeded");
    await relay.kill9();
    await relay.start();
    await gone("canary-of-the-purged");
    expect(await list(account)).to.deep.equal([kept]);
    await through();
    await stopCovered(relay, at(account));
    const live = documentHashes(relay.dataDir);
    expect(await relay.command("rebuild")).to.include({ code: 0 });
    expect(documentHashes(relay.dataDir)).to.deep.equal(live);
    await relay.start();
    expect(await list(account)).to.deep.equal([kept]);
  });

  it("frees idempotency keys, and delivers events accepted again under them", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/good") });
    const key = { "x-idempotency-key": "again" };
    for (let round = 1; round <= 3; round += 1) {
      const id = await post(account, ingest, { round }, key);
      await eventReaches(account.owner, id, "Succeeded");
      expect(receiver.requestsTo("/good")).to.have.length(round);
      expect(receiver.requestsTo("/good").at(-1)?.headers["webhook-id"]).to.equal(id);
      expect(text(await relay.at(account.producer).as(key).post(ingest, { round }), "status")).to.equal("Succeeded");
      await purge(account);
      expect(await list(account)).to.deep.equal([]);
    }
  });
});
