import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { closeBooks } from "../support/closed-books.ts";
import type { Engine } from "../support/engines/engine.ts";
import { Ledger, printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { Producers, randomOfRun } from "../support/relay-process-load.ts";
import { sized } from "../support/size.ts";
import { outsideEngines, type OutsideEngines } from "../support/topologies.ts";

/** From when an outage is noticed, which takes some eight seconds, on average. */
const awayMs = 1_000;
/** From the engine's return until every acknowledged event is delivered. */
const healsWithinMs = 30_000;
const deliveryTimeoutMs = 15_000;

const engineNames = ["EventStoreDB", "Kafka", "MongoDB"] as const;

/** The fault of an engine in {@link enginesAway}: it is killed and started again, or stopped and continued. */
export type Fault = "killed" | "frozen";

/** The tests of a suite: under one load, each engine has its faults in turn; then the relay starts without Kafka. */
export function enginesAway({ faults, startsWithoutKafka }: {
  readonly faults: Readonly<Record<(typeof engineNames)[number], readonly Fault[]>>;
  readonly startsWithoutKafka: boolean;
}): void {
  let engines: OutsideEngines;
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;
  let ledger: Ledger;
  let producers: Producers;
  let random: () => number;

  before(async function () {
    this.timeout(600_000);
    random = randomOfRun();
    engines = await outsideEngines(this);
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, {
      env: { ...engines.env, RELAY_DELIVERY_TIMEOUT: `${deliveryTimeoutMs}ms`, RELAY_RETRY_SCHEDULE: "100ms,300ms" },
    });
    account = await openAccount(relay.url, { maxTrys: 10_000 });
    ledger = new Ledger();
    const targets = [];
    for (const [path, delayMs] of [["/quick", 0], ["/slow", 200], ["/quicker", 0]] as const) {
      receiver.on(path, ledger.receiving(() => ({ delayMs })));
      const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: 50 });
      targets.push({ account, ingest });
    }
    producers = new Producers(relay, ledger, targets, { producers: 2, pauseMs: 60, random }).start();
  });
  afterEach(function () {
    if (this.currentTest?.state === "failed") console.log(relay.tail());
  });
  after(async () => {
    await relay.close();
    await receiver.close();
    await engines.close();
  });

  const engineOf = (name: (typeof engineNames)[number]): Engine =>
    ({ EventStoreDB: engines.eventStoreDb, Kafka: engines.kafka, MongoDB: engines.mongoDb })[name];
  const readyz = async () => {
    const response = await fetch(`${relay.url}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  /** Takes delivered events out of a set, up to the first that is not; that one with its status, or null. */
  const firstUndelivered = async (ids: Set<string>) => {
    for (const id of ids) {
      const { status } = await account.owner.get(`/api/v1/events/${id}`);
      if (status !== "Succeeded") return `${id} ${String(status)}`;
      ids.delete(id);
    }
    return null;
  };

  for (const name of engineNames) {
    for (const fault of faults[name]) {
      it(`${name} ${fault}: reported, and recovered from without a restart of the relay`, async function () {
        const engine = engineOf(name);
        for (let round = 0; round < sized(1, 10); round += 1) {
          await pause(1_000);
          await (fault === "killed" ? engine.kill() : engine.freeze());
          const up = `relay_engine_up{engine="${name}"}`;
          let before: readonly string[];
          // Even after a failure the next test needs the engine again.
          try {
            await eventually(() => relay.metric(up), (value) => value === 0);
            const { status, text: said } = await readyz();
            if (name === "Kafka") expect([status, said]).to.deep.equal([200, "ready"]);
            else expect([status, said]).to.deep.equal([503, `no answer from ${name}`]);
            await pause(awayMs * (0.5 + random()));
          } finally {
            before = ledger.eventIdsOf(account);
            await (fault === "killed" ? engine.restart() : engine.thaw());
          }
          const since = performance.now();
          const left = new Set(before.slice(-200));
          const first = () => firstUndelivered(left).catch((error: unknown) => String(error));
          await eventually(first, (undelivered) => undelivered === null, healsWithinMs);
          await eventually(readyz, (answer) => answer.status === 200, healsWithinMs);
          expect(await relay.metric(up)).to.equal(1);
          const accepted = ledger.count;
          await eventually(async () => ledger.count, (count) => count > accepted, healsWithinMs);
          const tookMs = Math.round(performance.now() - since);
          printed(`${name} ${fault}`, { healedAfterMs: tookMs });
          expect(tookMs, "healed").to.be.at.most(healsWithinMs);
        }
      });
    }
  }

  it("after all faults the books balance, with one life of the relay", async () => {
    await producers.stop();
    printed("engines away", await closeBooks(ledger, account, {
      owner: account.owner, lives: relay.lives, attemptMs: deliveryTimeoutMs + 5_000,
    }));
    expect(relay.lives).to.have.length(1);
    const { total } = (await account.owner.get("/api/v1/events?Qt=1")) as Json & { total: number };
    expect(total).to.equal(ledger.count);
  });

  if (!startsWithoutKafka) return;

  it("starts while Kafka is unavailable, accepts events, and delivers them once it is back", async () => {
    // A new account: an earlier try of this test may have moved the relay to another port.
    const late = await openAccount(relay.url);
    const { ingest } = await late.destination({ url: receiver.url("/late") });
    await engines.kafka.kill();
    let eventId: string;
    try {
      await relay.sigterm();
      await relay.start();
      expect(await readyz()).to.deep.equal({ status: 200, text: "ready" });
      eventId = text(await relay.at(late.producer).post(ingest, {}), "eventId");
    } finally {
      await engines.kafka.restart();
    }
    await eventReaches(relay.at(late.owner), eventId, "Succeeded", healsWithinMs);
  });
}
