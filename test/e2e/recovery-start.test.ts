import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { cpuOf, total } from "../../bench/support/cpu.ts";
import { startEventStoreDb } from "../support/engines/eventstoredb.ts";
import { freePort } from "../support/free-port.ts";
import { printed } from "../support/ledger.ts";
import { eventually, openAccount, temporaryDataDir, testEnvironment } from "../support/relay.ts";
import { RelayProcess, runRelay, type Finished } from "../support/relay-process.ts";
import { fillLog } from "../support/relay-process-fill.ts";
import { heapInUse, inspected } from "../support/relay-process-heap.ts";
import { sized } from "../support/size.ts";

const nobody = 65_534;

describe("an impossible start", function () {
  let dataDir: string;

  beforeEach(() => (dataDir = temporaryDataDir()));
  afterEach(() => rmSync(dirname(dataDir), { recursive: true, force: true }));

  /** Fails unless a process ended with code 1 and one line on standard error. */
  function expectOneLine({ code, stderr }: Finished, line: string | RegExp): void {
    expect(code).to.equal(1);
    expect(stderr.trimEnd().split("\n")).to.have.length(1);
    if (typeof line === "string") expect(stderr).to.equal(`${line}\n`);
    else expect(stderr).to.match(line);
  }

  const environment = (env: Readonly<Record<string, string>>) => ({ ...testEnvironment(dataDir, null), ...env });

  it("is refused on a data folder in use, and the running relay goes on", async () => {
    const relay = await RelayProcess.start(null);
    try {
      const problem = `RELAY_DATA_DIR: the data folder ${relay.dataDir} is in use by another process`;
      for (const port of ["0", new URL(relay.url).port]) {
        const second = await runRelay({ ...relay.environment, RELAY_PORT: port });
        expectOneLine(second, `the relay cannot start: ${problem}`);
      }
      const account = await openAccount(relay.url);
      expect((await account.owner.get("/api/v1/destinations"))["total"]).to.equal(0);
      expect((await relay.sigterm()).code).to.equal(0);
      await relay.start();
    } finally {
      await relay.close();
    }
  });

  it("is refused on a data folder in use for read models only, as rebuild beside a relay is", async () => {
    const { url, stop } = await startEventStoreDb();
    const env = {
      RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: url,
      RELAY_MASTER_KEY: randomBytes(32).toString("base64"),
    };
    const relay = await RelayProcess.start(null, { env });
    try {
      const problem = `RELAY_DATA_DIR: the data folder ${relay.dataDir} is in use by another process`;
      expectOneLine(await relay.command(), `the relay cannot start: ${problem}`);
      expectOneLine(await relay.command("rebuild"), `the read models cannot be rebuilt: ${problem}`);
      const { email } = await openAccount(relay.url);
      // The relay's socket is in that folder.
      expect((await relay.command("reset-owner-password", email)).code).to.equal(0);
      expect((await relay.sigterm()).code).to.equal(0);
      expect((await relay.command("rebuild")).code).to.equal(0);
    } finally {
      await relay.close();
      await stop();
    }
  });

  it("is refused on a port in use, or an address of another machine, and creates no data folder", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const refused = await runRelay(environment({ RELAY_PORT: String(port) }));
    const problem = `RELAY_PORT: the port is in use by another process (127.0.0.1:${port})`;
    expectOneLine(refused, `the relay cannot start: ${problem}`);
    expect(existsSync(dataDir)).to.equal(false);
    await new Promise((resolve) => other.close(resolve));
    for (const host of ["192.0.2.1", "fe80::1%nowhere"]) {
      const again = await runRelay(environment({ RELAY_HOST: host }));
      expectOneLine(again, `the relay cannot start: RELAY_HOST: this machine has no such address (${host}:0)`);
      expect(existsSync(dataDir)).to.equal(false);
    }
  });

  it("is refused with an invalid setting", async () => {
    expectOneLine(await runRelay(environment({ RELAY_PORT: "many" })), /^RELAY_PORT: .+\n$/);
  });

  it("is refused with invalid URLs of engines, naming the variable of each", async () => {
    for (const [variable, setting, url] of [
      ["RELAY_EVENTSTOREDB_URL", { RELAY_EVENT_STORE: "eventstoredb" }, "esdb://localhost?tls=maybe"],
      ["RELAY_MONGODB_URL", { RELAY_READ_MODELS: "mongodb" }, "mongodb://localhost?maxPoolSize=many"],
    ] as const) {
      const refused = await runRelay(environment({ ...setting, [variable]: url }));
      expectOneLine(refused, new RegExp(`^the relay cannot start: ${variable}: .+`));
    }
  });

  it("is refused with an option unknown to the client of EventStoreDB, without showing the password", async () => {
    const url = "esdb://relay:hidden@localhost?tls=false&tlsVerifyCert=false&tlsverify=false";
    const refused = await runRelay(environment({ RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: url }));
    expectOneLine(refused, 'the relay cannot start: RELAY_EVENTSTOREDB_URL: Unknown option key "tlsverify"');
  });

  it("is refused if the data folder cannot be created or written", async () => {
    writeFileSync(join(dirname(dataDir), "file"), "");
    const inFile = join(dirname(dataDir), "file", "data");
    const folderProblem = /^the relay cannot start: RELAY_DATA_DIR: .+/;
    const mistaken = { RELAY_DATA_DIR: inFile, RELAY_LOG_LEVEL: "warn", RELAY_DATADIR: "x" };
    const refused = await runRelay(environment(mistaken));
    expectOneLine(refused, folderProblem);
    expect(refused.stdout, "a likely mistake").to.include("RELAY_DATADIR: is not a variable this program knows");

    mkdirSync(dataDir);
    chmodSync(dirname(dataDir), 0o755);
    chmodSync(dataDir, 0o555);
    const uid = process.getuid?.() === 0 ? nobody : undefined;
    expectOneLine(await runRelay(environment({}), [], { uid }), folderProblem);
  });

  it("is refused under another master key than the log's", async () => {
    const relay = await RelayProcess.start(null);
    try {
      await relay.sigterm();
      const key = Buffer.alloc(32, 7).toString("base64");
      const refused = await runRelay({ ...relay.environment, RELAY_MASTER_KEY: key });
      const problem = "RELAY_MASTER_KEY: is not the key that this log was written under";
      expectOneLine(refused, `the relay cannot start: ${problem}`);
    } finally {
      await relay.close();
    }
  });
});

describe("a start without engines", function () {
  it("keeps trying to connect to them, though no connection stays open", async () => {
    let asked = 0;
    const door = createServer((socket) => {
      asked += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
    const { port } = door.address() as AddressInfo;
    const nowhere = await freePort();
    const relay = new RelayProcess(null, { env: {
      RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: `esdb://127.0.0.1:${port}?tls=false`,
      RELAY_QUEUE: "kafka", RELAY_KAFKA_BROKERS: `127.0.0.1:${nowhere}`,
      RELAY_READ_MODELS: "mongodb", RELAY_MONGODB_URL: `mongodb://127.0.0.1:${nowhere}/relay`,
      RELAY_MASTER_KEY: randomBytes(32).toString("base64"), RELAY_ROLES: "delivery",
    } });
    try {
      relay.launch();
      // Rejects when the process ends.
      const ready = relay.ready().then(() => 0);
      expect(await Promise.race([eventually(async () => asked, (times) => times >= 5), ready])).to.be.at.least(5);
    } finally {
      await relay.close();
      door.close();
    }
  });
});

describe("a start with much to do", function () {
  this.timeout(sized(120_000, 600_000));
  const relays: RelayProcess[] = [];

  afterEach(async function () {
    for (const relay of relays.splice(0)) await relay.closeAfter(this);
  });

  interface Measured {
    /** CPU time until it is ready: a busy machine makes it no longer. */
    readonly startMs: number;
    readonly caughtUpMs: number;
    /** Used heap of the main thread, MiB. */
    readonly heap: number;
  }

  /** Starts a relay whose log holds that many events for a dead receiver. */
  async function measure(events: number): Promise<Measured> {
    const env = { RELAY_ALLOWED_NETWORKS: "127.0.0.0/8", RELAY_RETRY_SCHEDULE: "1h" };
    const relay = await RelayProcess.start(null, { env, nodeFlags: inspected });
    relays.push(relay);
    const account = await openAccount(relay.url, { circuitBreakerTimer: 3600 });
    const { id: destinationId } = await account.destination({ url: "https://127.0.0.1:9/dead" });
    const [key] = (await account.owner.get("/api/v1/api-keys"))["items"] as [{ id: string }];
    await relay.sigterm();
    await fillLog(relay.dataDir, { tenantId: account.tenantId, destinationId, apiKeyId: key.id }, events);
    await relay.start();
    const startMs = Math.round(total(cpuOf(relay.pid)));
    const readyAt = relay.lives.at(-1)?.readyAt;
    const waiting = () => relay.at(account.owner).get("/api/v1/events?Qt=1").catch(() => null);
    const list = await eventually(waiting, (page) => page !== null, sized(30_000, 300_000));
    const caughtUpMs = Date.now() - Number(readyAt);
    expect(list?.["total"]).to.equal(events);
    const destination = () => relay.at(account.owner).get(`/api/v1/destinations/${destinationId}`);
    await eventually(destination, ({ status }) => status === "Suspended");
    const heap = Math.round((await heapInUse(relay)) / 2 ** 20);
    await relay.sigterm();
    return { startMs, caughtUpMs, heap };
  }

  it("takes about the same CPU time and memory with few or many events for a dead receiver", async () => {
    const few = await measure(1_000);
    const many = await measure(sized(15_000, 1_000_000));
    printed("with 1,000 waiting", few);
    printed("with many more", many);
    // Fifteen times as many events, and more: this start rebuilds the index of waiting events, and little else.
    expect(many.startMs / few.startMs, "CPU time until it is ready").to.be.at.most(4);
    expect(many.heap / few.heap, "memory").to.be.at.most(1.5);
  });
});
