import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { readHistories, type HistoryFact } from "../support/api-histories.ts";
import { Ledger, printed, type Figures } from "../support/ledger.ts";
import {
  documentHashes, listedTotals, readLists, stopCovered, totalsOf, unfinishedOf,
} from "../support/ledger-snapshot.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { fillLog } from "../support/relay-process-fill.ts";
import { Producers, randomOfRun, type Target } from "../support/relay-process-load.ts";

const deliveryTimeoutMs = 2_000;
/** The lease of an attempt in src/delivery/dispatch/claims.ts, with the deadline above. */
const leaseMs = deliveryTimeoutMs + 5_000;
const graceMs = 5_000;
/** The delay of the slowest receiver. */
const crawlMs = 1_500;
/** From the claim to the end of an attempt, on a busy machine. */
const attemptMs = deliveryTimeoutMs + 2_000;

const env = {
  RELAY_DELIVERY_TIMEOUT: `${deliveryTimeoutMs}ms`, RELAY_RETRY_SCHEDULE: "100ms,300ms",
  // Thousands of kills take longer than an hour.
  RELAY_ACCESS_TOKEN_TTL: "1d",
};

/** How often the suite of {@link crashes} kills the relay. */
export interface Kills {
  readonly underLoad: number;
  /** Rounds of a kill at each critical moment. */
  readonly rounds: number;
  readonly inCatchUp: number;
  /** Events that the catch-up has to project. */
  readonly events: number;
  readonly firstStarts: number;
}

/** A message as the API lists it. */
interface Message {
  readonly id: string;
  readonly status: string;
  readonly deliveries: readonly { readonly eventId: string; readonly destinationUrlId: string }[];
}

/** The tests of a suite: the relay is killed at any moment. */
export function crashes(kills: Kills): void {
  let receiver: Receiver;
  let relay: RelayProcess;
  let ledger: Ledger;
  let random: () => number;

  beforeEach(async () => {
    random = randomOfRun();
    ledger = new Ledger();
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, { env });
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  /** A destination of an account, as a target of producers. */
  interface DestinationTarget extends Target {
    readonly id: string;
  }

  /** A destination of an account, with a receiver that answers by the script. */
  async function target(
    account: Account,
    path: string,
    script: Parameters<Ledger["receiving"]>[0],
    serverRateLimit = 100,
  ): Promise<DestinationTarget> {
    receiver.on(path, ledger.receiving(script));
    const { id, ingest } = await account.destination({ url: receiver.url(path), serverRateLimit });
    return { account, id, ingest };
  }

  /** A sender that fans out to destinations of an account. */
  async function fanOut(account: Account, to: readonly DestinationTarget[]): Promise<Target> {
    const sender = await account.owner.post("/api/v1/senders", { name: "to several", fanOut: true });
    for (const { id: destinationUrlId } of to) {
      await account.owner.post("/api/v1/subscriptions", { senderId: text(sender, "id"), destinationUrlId });
    }
    return { account, ingest: `/api/v1/ingest/${account.tenantId}/${text(sender, "ingestToken")}` };
  }

  /** Purges the newest messages that are delivered, or one delivery of each: it may not be sent from then on. */
  async function purgeDelivered(account: Account): Promise<readonly Message[]> {
    const owner = relay.at(account.owner);
    // Few at a time: a relay that is killed often completes no purge, and refuses those beyond a hundred.
    const { items } = (await owner.get("/api/v1/messages?Qt=2")) as { items: Message[] };
    const delivered = items.filter(({ status }) => status === "Succeeded");
    for (const { id: messageId, deliveries } of delivered) {
      // A message stays as long as one of its deliveries.
      const [one] = random() < 0.5 ? deliveries : [];
      await owner.post("/api/v1/events/purge", { messageId, ...(one && { destinationUrlId: one.destinationUrlId }) });
      ledger.purged((one ? [one] : deliveries).map(({ eventId }) => eventId));
    }
    return delivered;
  }

  /** Waits until nothing is under way at any account; replays events that were given up. */
  async function settled(accounts: readonly Account[], timeoutMs: number): Promise<void> {
    const open = async () => {
      const left: string[] = [];
      for (const account of accounts) {
        const owner = relay.at(account.owner);
        const { items } = (await owner.get("/api/v1/events?Status=CriticalFailure&Qt=100")) as { items: Json[] };
        for (const { id } of items) await owner.post(`/api/v1/events/${String(id)}/replay`, {});
        const unfinished = await unfinishedOf(owner, ["Succeeded", "Cancelled"]);
        if (unfinished > 0) left.push(`${unfinished} of ${account.email}`);
      }
      return left;
    };
    // A 503 says that the read models are still behind.
    await eventually(() => open().catch((error: unknown) => [String(error)]), ({ length }) => length === 0, timeoutMs);
  }

  /** Balances the books of all accounts and compares the lists with them. */
  async function expectBalance(accounts: readonly Account[], what: string): Promise<Figures> {
    const histories = new Map<string, readonly HistoryFact[]>();
    for (const account of accounts) {
      const own = await readHistories(relay.at(account.owner), ledger.eventIdsOf(account));
      for (const [id, facts] of own) histories.set(id, facts);
      expect(await listedTotals(relay.at(account.owner)), "totals by status").to.deep.equal(totalsOf(own));
    }
    const { faults, figures } = ledger.balance(histories, relay.lives, attemptMs);
    printed(what, figures);
    for (const [fault, found] of Object.entries(faults)) expect(found, fault).to.deep.equal([]);
    expect(figures.extraDeliveries, "one duplicate at most for each attempt in flight at a kill")
      .to.be.at.most(figures.unknownOutcomes + figures.lateAnswers);
    return figures;
  }

  it("under load: loses no acknowledged event, repeats no attempt, delivers all soon after", async () => {
    let healed = false;
    const patient = await openAccount(relay.url, { maxTrys: 10_000 });
    const guarded = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    const forgetful = await openAccount(relay.url, { maxTrys: 10_000 });
    const quick = await target(patient, "/quick", () => ({}));
    const slow = await target(patient, "/slow", () => ({ delayMs: 50 + random() * 350 }));
    const crawling = await target(patient, "/crawling", () => ({ delayMs: crawlMs }));
    // After a kill, events that wait for this narrow limit are in no queue.
    const narrow = await target(patient, "/narrow", () => ({ delayMs: 5 }), 10);
    const mending = await target(patient, "/mending", () =>
      (healed ? {} : random() < 0.1 ? "silence" : { status: 500 }));
    const moody = await target(guarded, "/moody", () => ({ status: healed || random() < 0.6 ? 200 : 503 }));
    const toFour = await fanOut(patient, [quick, slow, narrow, mending]);
    const toThree = await fanOut(forgetful, [
      await target(forgetful, "/first", () => ({})),
      await target(forgetful, "/second", () => ({})),
      await target(forgetful, "/third", () => ({ delayMs: random() * 100 })),
    ]);
    // Most of the load is for receivers that keep up, to keep the backlog at the end small.
    const load = [
      quick, quick, quick, quick, slow, slow, slow, crawling, narrow, mending, mending, moody, moody, toFour, toFour,
      toThree, toThree,
    ];
    const producers = new Producers(relay, ledger, load, { producers: 4, pauseMs: 10, random }).start();
    await eventually(() => purgeDelivered(forgetful), (purged) => purged.length > 0);
    for (let kill = 0; kill < kills.underLoad; kill += 1) {
      // Now and then the relay lives long enough for earlier leases to end; else they would pile up.
      healed = kill > 0 && kill % 20 === 0;
      if (!healed && random() < 0.25) await pause(random() * 800);
      else {
        await relay.ready();
        await pause(healed ? leaseMs + graceMs : random() * 600);
        // Work of the last second may come again after a kill; the streams are deleted within half a second.
        await eventually(() => purgeDelivered(forgetful), () => true);
        await pause(random() * 600);
      }
      await relay.kill9();
      relay.launch();
    }
    await relay.ready();
    healed = true;
    await producers.stop();
    // After many kills some hundred events wait for the slowest receiver, which takes a hundred at once.
    const all = [patient, guarded, forgetful];
    await settled(all, leaseMs + graceMs + Math.ceil(kills.underLoad / 40) * crawlMs);
    const figures = await expectBalance(all, `${relay.lives.length - 1} kills`);
    expect(figures.acknowledged).to.be.greaterThan(20);
    expect(figures.unanswered, "kills under load").to.be.greaterThan(0);
    expect(figures.unknownOutcomes, "kills in the middle of attempts").to.be.greaterThan(0);

    const owners = () => [patient, guarded].map(({ owner }) => relay.at(owner));
    const recent = Date.now() - 600_000;
    const lists = () => Promise.all(owners().map((owner) => readLists(owner, recent)));
    const before = await lists();
    await eventually(async () => inReadModels("SELECT count(*) AS value FROM c_purges"), (left) => left === 0);
    await stopCovered(relay, patient.owner);
    const hashes = () => documentHashes(relay.dataDir, forgetful.tenantId);
    const projected = hashes();
    expect((await relay.command("rebuild")).code).to.equal(0);
    expect(hashes(), "documents after a rebuild").to.deep.equal(projected);
    await relay.start();
    expect(await lists()).to.deep.equal(before);
  });

  it("at critical moments: a 202, a request at the receiver, its answer, each start", async () => {
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    let atRequest = () => {};
    const { ingest } = await target(account, "/watched", () => {
      atRequest();
      return {};
    });
    let posted = 0;
    /** Posts some events at once; resolves when each is answered, by this process or a later one. */
    const post = (count: number, on202 = () => {}) => Promise.all(Array.from({ length: count }, async () => {
      posted += 1;
      const key = `event-${posted}`;
      const body = JSON.stringify({ key });
      const headers = { ...account.producer.headers, "content-type": "application/json", "x-idempotency-key": key };
      for (;;) {
        await relay.ready();
        const answer = await fetch(relay.url + ingest, { method: "POST", headers, body }).catch(() => undefined);
        if (answer?.status === 202) on202();
        const json = (await answer?.json().catch(() => undefined)) as { eventId: string } | undefined;
        if (json && answer) {
          ledger.acknowledged({ key, eventId: json.eventId, body, status: answer.status as 200 | 202, account });
          return;
        }
        await pause(10);
      }
    }));
    let died: Promise<void> | undefined;
    const die = () => void (died ??= relay.kill9().then(() => relay.launch()));
    const points: Readonly<Record<string, () => Promise<unknown>>> = {
      "a 202": () => post(20, die),
      "a request": () => {
        atRequest = die;
        return post(1);
      },
      "an answer": () => {
        atRequest = () => setTimeout(die, random() * 4);
        return post(5);
      },
      "a start": async () => {
        die();
        await post(1);
      },
    };
    for (let round = 0; round < kills.rounds; round += 1) {
      for (const [point, reach] of Object.entries(points)) {
        died = undefined;
        await Promise.all([
          reach(),
          eventually(async () => (died ? "dead" : `waiting for ${point}`), (state) => state === "dead"),
        ]);
        atRequest = () => {};
        await relay.ready();
      }
    }
    await settled([account], leaseMs + graceMs);
    const figures = await expectBalance([account], `${relay.lives.length - 1} kills`);
    expect(figures.extraDeliveries, "killed with a request at the receiver").to.be.at.least(kills.rounds);
  });

  it("in the middle of a catch-up: goes on from its checkpoint, to the same read models", async () => {
    const account = await openAccount(relay.url);
    const { id: destinationId } = await account.destination({ url: receiver.url("/idle") });
    await account.owner.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
    const [key] = (await account.owner.get("/api/v1/api-keys"))["items"] as [{ id: string }];
    await relay.sigterm();
    await fillLog(relay.dataDir, { tenantId: account.tenantId, destinationId, apiKeyId: key.id }, kills.events);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${readModelsFile()}${suffix}`, { force: true });

    const reached: number[] = [];
    for (let kill = 0; kill < kills.inCatchUp; kill += 1) {
      await relay.start();
      const before = reached.at(-1) ?? 0;
      await eventually(async () => checkpoint(), (now) => now > before || now >= kills.events);
      await pause(random() * 50);
      await relay.kill9();
      reached.push(checkpoint());
    }
    printed("killed with so much projected", reached);
    expect(reached, "checkpoints never go back").to.deep.equal(reached.toSorted((a, b) => a - b));
    expect(reached[0], "a kill in the middle").to.be.lessThan(kills.events);
    await relay.start();
    const list = () => relay.at(account.owner).get("/api/v1/events?Status=Pending&Qt=1");
    const page = await eventually(() => list().catch(() => null), (answer) => answer !== null, 60_000);
    expect(page?.["total"]).to.equal(kills.events);
    await stopCovered(relay, account.owner);
    const hashes = documentHashes(relay.dataDir);
    expect((await relay.command("rebuild")).code).to.equal(0);
    expect(documentHashes(relay.dataDir)).to.deep.equal(hashes);
  });

  it("during the first start ever: the next start finds everything it needs", async () => {
    for (let round = 0; round < kills.firstStarts; round += 1) {
      const fresh = new RelayProcess(receiver, { env });
      try {
        fresh.launch();
        await pause(100 + random() * 700);
        await fresh.kill9();
        await fresh.start();
        const account = await openAccount(fresh.url);
        await fresh.kill9();
        await fresh.start();
        expect(text(await fresh.at(account.owner).get(`/api/v1/tenants/${account.tenantId}`), "id"))
          .to.equal(account.tenantId);
      } finally {
        await fresh.close();
      }
    }
  });

  function readModelsFile(): string {
    return join(relay.dataDir, "read-models.db");
  }

  /** The position up to which the log is projected; 0 while there are no read models. */
  function checkpoint(): number {
    return inReadModels("SELECT checkpoint AS value FROM state");
  }

  /** The value that a query of the read models answers; 0 without one, and while there are no read models. */
  function inReadModels(select: string): number {
    try {
      const file = new DatabaseSync(readModelsFile(), { readOnly: true });
      try {
        return Number(file.prepare(select).get()?.["value"] ?? 0);
      } finally {
        file.close();
      }
    } catch {
      return 0;
    }
  }
}
