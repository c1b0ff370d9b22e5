import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { text, type ApiClient } from "../support/api-client.ts";
import { readHistories, type Histories } from "../support/api-histories.ts";
import { library } from "../support/disk/disk.ts";
import type { Step } from "../support/disk/journal.ts";
import type { Loss } from "../support/disk/platter.ts";
import { RelayOnDisk } from "../support/disk/relay-on-disk.ts";
import { Ledger, printed, type Balance } from "../support/ledger.ts";
import { documentHashes, listedTotals, stopCovered, totalsOf, unfinishedOf } from "../support/ledger-snapshot.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "../support/relay.ts";
import { Producers, randomOfRun, type Target } from "../support/relay-process-load.ts";

const deliveryTimeoutMs = 2_000;
/** The lease of an attempt in src/delivery/dispatch/claims.ts, with the deadline above. */
const leaseMs = deliveryTimeoutMs + 5_000;
const graceMs = 5_000;
const env = { RELAY_DELIVERY_TIMEOUT: `${deliveryTimeoutMs}ms`, RELAY_RETRY_SCHEDULE: "100ms,300ms" };

/** Steps of the disk at which the relay dies: the kind, and the end of the file's name. */
type Steps = readonly (readonly [kind: Step["kind"], file: string])[];

/** How often the suite of {@link onFailingDisk} disturbs the relay. */
export interface Disturbances {
  readonly losses: number;
  /** Steps at which the relay dies; under load a random one among that many steps of the kind. */
  readonly deaths: {
    readonly underLoad: readonly (readonly [kind: Step["kind"], file: string, within: number])[];
    readonly asItEnds: Steps;
    readonly asItStartsAgain: Steps;
  };
  /** Rounds of all deaths. */
  readonly rounds: number;
  /** Times that the disk is full or fails under load. */
  readonly anomalies: number;
}

/** The tests of a suite: the relay's disk loses unsynced writes, is full or fails. */
export function onFailingDisk({ losses, deaths, rounds, anomalies }: Disturbances): void {
  let receiver: Receiver;
  let relay: RelayOnDisk;
  let ledger: Ledger;
  let random: () => number;
  let slowRequests = 0;

  before(function () {
    if ("missing" in library) this.skip();
  });

  beforeEach(async () => {
    random = randomOfRun();
    ledger = new Ledger();
    receiver = await startReceiver({ record: false });
    relay = new RelayOnDisk(receiver, { env });
    await relay.start();
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  async function target(
    account: Account, path: string, script: Parameters<Ledger["receiving"]>[0], serverRateLimit = 100,
  ): Promise<Target> {
    receiver.on(path, ledger.receiving(script));
    const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit });
    return { account, ingest };
  }

  async function targets(account: Account): Promise<readonly Target[]> {
    const quick = await target(account, "/quick", () => ({}));
    const slow = await target(account, "/slow", () => {
      slowRequests += 1;
      return { delayMs: 20 + random() * 200 };
    });
    const failing = await target(account, "/failing", ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 }));
    return [quick, quick, quick, slow, failing];
  }

  /** Resolves while a receiver that answers slowly has a request. */
  async function requestUnderWay(): Promise<void> {
    const before = slowRequests;
    await eventually(async () => slowRequests, (requests) => requests > before);
  }

  /** Waits until no event of an account is under way. */
  async function settled(account: Account): Promise<void> {
    const open = () => unfinishedOf(relay.at(account.owner)).catch(() => -1);
    await eventually(open, (total) => total === 0, leaseMs + graceMs + 30_000);
  }

  /** `outageMs`: the longest time in which no outcome could be recorded. */
  async function balance(account: Account, outageMs = 0): Promise<Balance> {
    const owner = relay.at(account.owner);
    const histories: Histories = await readHistories(owner, ledger.eventIdsOf(account));
    expect(await listedTotals(owner), "totals by status").to.deep.equal(totalsOf(histories));
    return ledger.balance(histories, relay.lives, deliveryTimeoutMs + 2_000 + outageMs);
  }

  function expectWhole({ faults, figures }: Balance, what: string): void {
    printed(what, figures);
    for (const [fault, found] of Object.entries(faults)) expect(found, fault).to.deep.equal([]);
    expect(figures.extraDeliveries).to.be.at.most(figures.unknownOutcomes + figures.lateAnswers);
  }

  /** Whether the relay is ready. It is started again if it ended: a database file could not be synced. */
  async function serves(): Promise<boolean> {
    if (relay.lives.at(-1)?.endedAt != null) relay.launch();
    return fetch(`${relay.url}/readyz`).then(({ ok }) => ok, () => false);
  }

  it("loses no acknowledged event and repeats no attempt, with any unsynced writes lost", async () => {
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const load = await targets(account);
    const producers = new Producers(relay, ledger, load, { producers: 4, pauseMs: 5, random }).start();
    for (let loss = 0; loss < losses; loss += 1) {
      if (loss === 0) {
        await requestUnderWay();
      } else {
        if (random() < 0.75) await relay.ready();
        await pause(random() * 1_200);
      }
      await relay.losePower(someLoss(random));
      relay.launch();
    }
    await relay.ready();
    await eventually(async () => ledger.count, (count) => count > 20);
    await producers.stop();
    await settled(account);
    const whole = await balance(account);
    expectWhole(whole, `${relay.lives.length - 1} times without power`);
    expect(whole.figures.unknownOutcomes, "attempts under way when the power went").to.be.greaterThan(0);
    await stopCovered(relay, account.owner);
    const hashes = documentHashes(relay.dataDir);
    expect((await relay.command("rebuild")).code).to.equal(0);
    expect(documentHashes(relay.dataDir), "documents after a rebuild").to.deep.equal(hashes);
  });

  it("would lose acknowledged events without syncs on this disk", async () => {
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const load = await targets(account);
    await relay.sigterm();
    relay.disk.dropSyncs();
    await relay.start();
    const producers = new Producers(relay, ledger, load, { producers: 4, pauseMs: 5, random }).start();
    await eventually(async () => ledger.count, (count) => count > 20);
    const acknowledged = ledger.eventIdsOf(account);
    await relay.losePower({ survives: () => false, torn: false });
    await relay.start();
    await producers.stop();
    const histories = await readHistories(relay.at(account.owner), acknowledged);
    expect(acknowledged.filter((id) => !histories.has(id)), "events found to be lost").to.deep.equal(acknowledged);
  });

  it("loses no acknowledged event and repeats no attempt, killed and without power at a certain step", async () => {
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const load = await targets(account);
    const loaded = async (during: () => Promise<unknown>) => {
      const producers = new Producers(relay, ledger, load, { producers: 4, pauseMs: 5, random }).start();
      await during();
      await producers.stop();
    };
    const accepted = async () => {
      const before = ledger.count;
      await eventually(async () => ledger.count, (count) => count >= before + 10);
    };
    const back = async () => {
      await relay.losePower(someLoss(random));
      await relay.start();
    };
    for (let round = 0; round < rounds; round += 1) {
      for (const [kind, file, within] of deaths.underLoad) {
        await loaded(async () => {
          relay.disk.dieAt(kind, file, 1 + Math.floor(random() * within));
          await died(relay);
          await back();
        });
      }
      for (const [kind, file] of deaths.asItEnds) {
        await loaded(accepted);
        relay.disk.dieAt(kind, file, 1);
        relay.signal("SIGTERM");
        await died(relay);
        await back();
      }
      for (const [kind, file] of deaths.asItStartsAgain) {
        await loaded(accepted);
        await relay.losePower({ survives: () => true, torn: false });
        relay.disk.dieAt(kind, file, 1);
        relay.launch();
        await died(relay);
        await back();
      }
    }
    relay.disk.dieAt("opened", "", 0);
    await settled(account);
    expectWhole(await balance(account), `${relay.lives.length - 1} deaths`);
  });

  it("shows no event purged, and takes no token ended, right before the power loss", async () => {
    const account = await openAccount(relay.url);
    receiver.on("/later", () => ({ status: 503, headers: { "retry-after": "3600" } }));
    const { ingest } = await account.destination({ url: receiver.url("/later") });
    const eventId = text(await account.producer.post(ingest, {}), "eventId");
    const owner = () => relay.at(account.owner);
    await eventReaches(owner(), eventId, "WaitingRetry");
    // The restart syncs the read models, which do not have the end of the event yet.
    await relay.sigterm();
    await relay.start();
    const { email, password } = account;
    const session = await owner().post("/api/v1/auth/login", { email, password });
    const loggedOut = owner().as({ authorization: `Bearer ${text(session, "accessToken")}` });
    await owner().post(`/api/v1/events/${eventId}/cancel`, {});
    await owner().post("/api/v1/events/purge", {});
    const purges = `/api/v1/tenants/${account.tenantId}/purges/history`;
    await eventually(() => owner().get(purges), ({ total }) => total === 2, 30_000);
    const logout = await fetch(`${relay.url}/api/v1/auth/logout`, { method: "POST", headers: loggedOut.headers });
    expect(logout.status).to.equal(204);
    await relay.losePower({ survives: () => false, torn: false });
    await relay.start();
    const statusOf = async ({ headers }: ApiClient) => (await fetch(`${relay.url}/api/v1/users`, { headers })).status;
    expect([await statusOf(loggedOut), await statusOf(account.owner)]).to.deep.equal([401, 200]);
    expect(await owner().get("/api/v1/events/totals")).to.include({ total: 0 });
    expect(await owner().get("/api/v1/events")).to.deep.equal({ total: 0, items: [], nextCursor: null });
  });

  it("is not ready after an error of its log, and ready again without a request; starts on no full disk", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await target(account, "/hook", () => ({}));
    const ready = async () => {
      const response = await fetch(`${relay.url}/readyz`);
      return [response.status, await response.text()];
    };
    for (const [before, [error, cause]] of ([["ENOSPC", "no space left"], ["EIO", "I/O error"]] as const).entries()) {
      relay.disk.anomaly({ error, writes: 1, syncs: 0 });
      expect(await ready(), "nothing was to be written yet").to.deep.equal([200, "ready"]);
      const refused = await fetch(`${relay.url}${ingest}`, {
        method: "POST", headers: { ...account.producer.headers, "content-type": "application/json" }, body: "{}",
      });
      expect(refused.status).to.equal(503);
      await eventually(ready, ([status]) => status === 503);
      expect(await ready()).to.deep.equal([503, `the log cannot be written: ${cause}`]);
      expect(await relay.metric('relay_engine_up{engine="log"}')).to.equal(0);
      expect(await relay.metric('relay_troubles_total{kind="engine away"}')).to.equal(before + 1);
      relay.disk.anomaly(null);
      await eventually(ready, ([status]) => status === 200);
      expect(await relay.metric('relay_engine_up{engine="log"}')).to.equal(1);
      await account.producer.post(ingest, {});
    }
    await relay.sigterm();
    relay.disk.anomaly({ error: "ENOSPC", writes: 1, syncs: 0 });
    const { code, stdout, stderr } = await relay.command();
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.match(/^the relay cannot start: RELAY_DATA_DIR: .+\n$/);
    relay.disk.anomaly(null);
    await relay.start();
  });

  for (const [error, means] of [["ENOSPC", "is full"], ["EIO", "fails"]] as const) {
    it(`answers 503 while the disk ${means}, loses nothing, and recovers by itself`, async () => {
      const account = await openAccount(relay.url, { maxTrys: 10_000 });
      const load = await targets(account);
      const producers = new Producers(relay, ledger, load, { producers: 4, pauseMs: 5, random }).start();
      let failures = 0;
      let outageMs = 0;
      for (let round = 0; round < anomalies; round += 1) {
        await pause(random() * 500);
        const writes = round % 2 === 0 ? 1 : random() * 0.5;
        const begun = performance.now();
        relay.disk.anomaly({ error, writes, syncs: error === "EIO" ? random() : 0 });
        await pause(300 + random() * 700);
        await eventually(async () => relay.disk.failures, (count) => count > failures);
        relay.disk.anomaly(null);
        failures = relay.disk.failures;
        await eventually(serves, (yes) => yes);
        outageMs = Math.max(outageMs, performance.now() - begun);
        const before = ledger.count;
        await eventually(async () => ledger.count, (count) => count >= before + 20, 30_000);
      }
      if (error === "ENOSPC") expect(relay.lives, "lives of the relay").to.have.length(1);
      await relay.losePower(someLoss(random));
      await relay.start();
      await producers.stop();
      await settled(account);
      const whole = await balance(account, outageMs);
      expectWhole(whole, `${failures} calls failed`);
      expect(whole.figures.unavailable, "answers of 503").to.be.greaterThan(0);
      const told = new Set(relay.lines.flatMap(({ err }) => (err ? [(err as { readonly type: string }).type] : [])));
      expect([...told]).to.include("LogUnavailable").and.not.include("Object");
      await stopCovered(relay, account.owner);
      const hashes = documentHashes(relay.dataDir);
      expect((await relay.command("rebuild")).code).to.equal(0);
      expect(documentHashes(relay.dataDir), "documents after a rebuild").to.deep.equal(hashes);
    });
  }
}

/** The tests of a suite: the relay is killed, and without power, at each of some steps of its first start. */
export function diesAtFirstStart(steps: Steps, rounds: number): void {
  let receiver: Receiver | undefined;

  before(async function () {
    if ("missing" in library) this.skip();
    receiver = await startReceiver({ record: false });
  });
  after(() => receiver?.close());

  for (const [kind, file] of steps) {
    it(`starts the next time: ${kind} ${file === "" ? "its folder" : file}`, async () => {
      const random = randomOfRun();
      for (let round = 0; round < rounds; round += 1) {
        const relay = new RelayOnDisk(receiver ?? null, { env });
        try {
          relay.disk.dieAt(kind, file, 1);
          relay.launch();
          await died(relay);
          await relay.losePower(someLoss(random));
          await relay.start();
          await openAccount(relay.url);
        } finally {
          await relay.close();
        }
      }
    });
  }
}

/** Of unsynced data: nothing, all, some writes, or some sectors survive. */
function someLoss(random: () => number): Loss {
  const share = [0, 0, 1, random(), random()][Math.floor(random() * 5)] ?? 0;
  return { survives: () => random() < share, torn: random() < 0.5 };
}

/** Resolves when the relay has died at its chosen step. */
async function died({ lives, disk }: RelayOnDisk): Promise<void> {
  await eventually(async () => lives.at(-1)?.endedAt ?? null, (endedAt) => endedAt !== null, 30_000);
  expect(disk.stepsToDeath, "steps that it ended without").to.equal(0);
}
