import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { readHistories, type HistoryFact } from "../support/api-histories.ts";
import { movableClock, RelayOnClock } from "../support/clock/relay-on-clock.ts";
import { startEventStoreDb } from "../support/engines/eventstoredb.ts";
import { printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

const hourMs = 3_600_000;
const destinations = 10;
/** Retries due in a second: any machine delivers as many, since the test measures lateness, not throughput. */
const perSecond = 500;
const env = { RELAY_RETRY_SCHEDULE: "4s", RELAY_RETRY_JITTER: "0.5", RELAY_ACCESS_TOKEN_TTL: "5h" };

/** Numbers of events by status. */
type Totals = Readonly<Record<string, number>>;

describe("retries that come due at about the same time", function () {
  this.timeout(sized(120_000, 1_800_000));
  let receiver: Receiver;
  let relay: RelayProcess;
  /** The times of the first and of the second request of each event, ms. */
  let firstAt: Map<string, number>;
  let secondAt: Map<string, number>;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    firstAt = new Map();
    secondAt = new Map();
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  /** Destinations that fail the first attempt at each event; `now` gives the times of requests. */
  async function open(account: Account, now: () => number): Promise<readonly string[]> {
    const ingests: string[] = [];
    for (let n = 0; n < destinations; n += 1) {
      receiver.on(`/${n}`, ({ headers }) => {
        const first = headers["x-relay-attempt"] === "1";
        (first ? firstAt : secondAt).set(String(headers["webhook-id"]), now());
        return first ? { status: 500 } : {};
      });
      ingests.push((await account.destination({ url: receiver.url(`/${n}`), serverRateLimit: 50 })).ingest);
    }
    return ingests;
  }

  const at = (times: readonly number[], share: number): number =>
    times.toSorted((a, b) => a - b)[Math.ceil((times.length - 1) * share)] ?? NaN;

  async function post(account: Account, ingests: readonly string[], events: number): Promise<void> {
    let posted = 0;
    const producer = relay.at(account.producer);
    const began = performance.now();
    const produce = async () => {
      for (let n = posted++; n < events; n = posted++) {
        await wait(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
        await producer.post(ingests[n % ingests.length] ?? "", { n });
      }
    };
    await Promise.all(Array.from({ length: 20 }, produce));
  }

  const plannedFor = (facts: readonly HistoryFact[]): number =>
    Date.parse(String(facts.find(({ type }) => type === "RetryScheduled")?.data["nextAttemptAt"]));

  it("are never early, and all on time", async () => {
    relay = await RelayProcess.start(receiver, { env });
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const ingests = await open(account, Date.now);
    const events = sized(1_000, 100_000);
    await post(account, ingests, events);
    await eventually(async () => secondAt.size, (count) => count === events, sized(60_000, 600_000));
    const firsts: number[] = [];
    const late: number[] = [];
    for (const [id, facts] of await readHistories(account.owner)) {
      firsts.push((firstAt.get(id) ?? NaN) - Date.parse(facts[0]?.time ?? ""));
      late.push((secondAt.get(id) ?? NaN) - plannedFor(facts));
    }
    const figures = {
      least: at(late, 0), p99: at(late, 0.99), most: at(late, 1), "p99 of first attempts": at(firsts, 0.99),
    };
    printed("ms after the planned moment", { events: late.length, ...figures });
    expect(late).to.have.length(events);
    expect(figures.least, "early").to.be.at.least(0);
    // First attempts of the same minute wait for the same processor.
    expect(figures.p99, "99 in 100").to.be.at.most(1_000 + figures["p99 of first attempts"]);
    expect(figures.most, "the last").to.be.at.most(60_000);
  });

  it("follow the relay's clock when it is set an hour forward and back, with restarts in between", async function () {
    if ("missing" in movableClock) this.skip();
    await keepToAMovedClock({});
  });

  it("follow it on EventStoreDB, which has a clock of its own", async function () {
    if ("missing" in movableClock) this.skip();
    const { url, stop } = await startEventStoreDb();
    try {
      await keepToAMovedClock({ RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: url });
    } finally {
      await stop();
    }
  });

  async function keepToAMovedClock(log: Readonly<Record<string, string>>): Promise<void> {
    // All events of a batch have failed once before the first retry is due.
    const clocked = new RelayOnClock(receiver, { env: { ...env, ...log, RELAY_RETRY_SCHEDULE: `${sized(4, 60)}s` } });
    relay = clocked;
    await relay.start();
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const ingests = await open(account, () => clocked.now());
    const batch = sized(100, 10_000);
    const patienceMs = sized(60_000, 600_000);
    let expected = 0;
    const postSome = async () => {
      await post(account, ingests, batch);
      expected += batch;
      // Every event is in the read models, and none is before or in its first attempt.
      const statuses = async () => (await relay.at(account.owner).get("/api/v1/events/totals"))["statuses"] as Totals;
      await eventually(() => statuses().catch((): Totals => ({})), ({ WaitingRetry = 0, Succeeded = 0 }) =>
        WaitingRetry + Succeeded === expected, patienceMs);
    };
    const allCame = () => eventually(async () => secondAt.size, (count) => count === expected, patienceMs);

    await postSome();
    clocked.setClock(hourMs);
    await allCame();
    await postSome();
    clocked.setClock(0);
    await relay.sigterm();
    await relay.start();
    // Retries planned an hour ahead are not due for an hour; new events are not held up by them.
    await postSome();
    expected -= batch;
    await allCame();
    expected += batch;
    clocked.setClock(-hourMs);
    await postSome();
    await relay.kill9();
    await relay.start();
    clocked.setClock(hourMs);
    await allCame();
    clocked.setClock(0);

    const histories = await readHistories(relay.at(account.owner));
    const early = [...histories].filter(([id, facts]) => (secondAt.get(id) ?? NaN) < plannedFor(facts));
    const planned = [...histories.values()].map((facts) => plannedFor(facts) - Date.now());
    const ahead = planned.filter((ms) => ms > hourMs / 2).length;
    const behind = planned.filter((ms) => ms < -hourMs / 2).length;
    printed("retries under a clock that jumps", { events: histories.size, early: early.length, ahead, behind });
    expect(histories.size).to.equal(expected);
    expect({ ahead, behind }, "planned under a clock that was set").to.deep.equal({ ahead: batch, behind: batch });
    expect(early.map(([id]) => id)).to.deep.equal([]);
    for (const [id, facts] of histories) {
      // A kill or a busy machine may have cut a second attempt off; another one follows each of these.
      const failed = facts.filter(({ type }) => type === "DeliveryFailed");
      expect(failed.filter(({ data }) => data["reason"] === "status"), id).to.have.length(1);
      expect(facts.filter(({ type }) => type === "DeliveryAttemptStarted"), id).to.have.length(failed.length + 1);
    }
  }
});
