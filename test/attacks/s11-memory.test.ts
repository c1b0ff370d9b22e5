import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";
import { StuckClientsThread } from "../support/stuck-clients.ts";

const mostMiB = 512;
/** About the limits of Node's heap in a container of 512 MiB. */
const nodeFlags = ["--max-old-space-size=256", "--max-semi-space-size=4"];
const bodyBytes = 262_144;
const events = 100;
const posts = sized(200, 1_000);
const everyMs = 10;
/** Time allowed to a busy machine for a single post, with an attack or without. */
const busyMs = 100;
/** Keeps unreachable destinations from being suspended. */
const lenient = { maxTrys: 10_000 };

describe("S11 requests to a running relay that exhaust memory", function () {
  this.timeout(sized(120_000, 600_000));
  let relay: RelayProcess;
  let clients: StuckClientsThread;
  let attacker: Account;
  let ingest: string;
  let other: Account;
  let otherIngest: string;
  /** The 99th percentile of how long another tenant's posts take without an attack, ms. */
  let calmMs: number;

  before(async () => {
    relay = await RelayProcess.start(null, { nodeFlags, env: { RELAY_RETRY_SCHEDULE: "1h" } });
    [attacker, other] = [await openAccount(relay.url, lenient), await openAccount(relay.url, lenient)];
    [ingest, otherIngest] = [await ingestOf(attacker), await ingestOf(other)];
    for (let n = 0; n < events; n += 1) await attacker.producer.post(ingest, { n, text: "x".repeat(250_000) });
    calmMs = await p99();
  });
  beforeEach(() => {
    clients = new StuckClientsThread();
  });
  afterEach(async function () {
    await clients.close();
    if (this.currentTest?.state === "failed") console.log(relay.tail());
  });
  after(() => relay.close());

  /** The ingest path of a destination that is never reached. */
  const ingestOf = async (account: Account) => {
    const { ingest: path } = await account.destination({ url: "https://receiver.invalid", serverRateLimit: 1 });
    return path;
  };
  const p99 = async () => {
    const took: number[] = [];
    for (let n = 0; n < posts; n += 1) {
      const startedAt = performance.now();
      await other.producer.post(otherIngest, { n, text: "y".repeat(1_000) });
      took.push(performance.now() - startedAt);
      await pause(everyMs);
    }
    return took.sort((a, b) => a - b)[Math.floor(posts * 0.99)]!;
  };
  const mostSeenMiB = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, "utf8"))?.[1]) / 1024;
  const open = (count: number, sends: string, reads = true) =>
    clients.open({ port: Number(new URL(relay.url).port), count, sends, reads });
  const head = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    `${method} ${path} HTTP/1.1\r\nHost: relay\r\n` +
    `${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  /** All of a body but its last two bytes. */
  const unfinished = (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const described = { "content-type": "application/json", "content-length": `${bodyBytes}`, ...headers };
    return head("POST", path, described) + `{"a":"${"a".repeat(bodyBytes - 8)}`;
  };
  /** Fails unless the relay lives, stays within its memory, and serves others as before. */
  const isUnharmed = async () => {
    const attackedMs = await p99();
    expect(relay.lives.at(-1)?.endedAt).to.equal(null);
    expect(mostSeenMiB()).to.be.below(mostMiB);
    expect(attackedMs).to.be.below(2 * Math.max(calmMs, busyMs));
  };

  it("leave other tenants memory: the largest pages, all of them unread", async () => {
    await open(sized(100, 300), head("GET", "/api/v1/events?Qt=100", attacker.owner.headers), false);
    await isUnharmed();
    expect((await other.owner.get("/api/v1/events"))["total"]).to.be.greaterThan(posts);
  });

  it("leave other tenants memory: unfinished bodies, with a session or without", async () => {
    const count = sized(1_200, 4_000) / 4;
    const login = "/api/v1/auth/login";
    const chunked = head("POST", login, { "content-type": "application/json", "transfer-encoding": "chunked" });
    for (const sends of [
      unfinished(login),
      `${chunked}${bodyBytes.toString(16)}\r\n${"a".repeat(bodyBytes - 2)}`,
      unfinished(ingest, { "x-api-key": "rk_nonsense" }),
      unfinished(ingest, attacker.producer.headers),
    ]) await open(count, sends);
    await isUnharmed();
    expect(await other.owner.get("/api/v1/users")).to.have.property("total", 1);
  });

  it("leave other tenants memory: idle connections", async () => {
    await open(sized(1_000, 5_000), head("GET", "/healthz", {}));
    await isUnharmed();
  });
});
