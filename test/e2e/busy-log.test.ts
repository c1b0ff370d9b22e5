import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { closeBooks } from "../support/closed-books.ts";
import { EventStoreDbServer } from "../support/eventstoredb-server/server.ts";
import { Ledger, printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { Producers, randomOfRun, type LoadOptions, type Target } from "../support/relay-process-load.ts";
import { sized } from "../support/size.ts";

const deliveryTimeoutMs = 3_000;
/** An append is given up after ten seconds, and a lease of these attempts is over after eight. */
const freezesMs = [11_000, 500, 15_000, 1_000, 12_000, 2_000, 8_000, 4_000].slice(0, sized(1, 8));
const pauseMs = 6_000;
const pauses = sized(1, 5);

describe("a relay on an EventStoreDB that is busy or stands still", function () {
  this.timeout(sized(120_000, 600_000));
  let server: EventStoreDbServer;
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;
  let ledger: Ledger;
  let targets: Target[];

  beforeEach(async () => {
    server = await EventStoreDbServer.start();
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, {
      env: {
        RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: server.url,
        RELAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        RELAY_DELIVERY_TIMEOUT: `${deliveryTimeoutMs}ms`, RELAY_RETRY_SCHEDULE: "100ms,300ms",
      },
    });
    account = await openAccount(relay.url, { maxTrys: 10_000 });
    ledger = new Ledger();
    targets = [];
    for (const [path, delayMs] of [["/quick", 0], ["/slow", 300], ["/slower", 1_500]] as const) {
      receiver.on(path, ledger.receiving(() => ({ delayMs })));
      const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: 50 });
      targets.push({ account, ingest });
    }
  });
  afterEach(async function () {
    server.faults.thaw();
    await relay.closeAfter(this);
    await receiver.close();
    await server.close();
  });

  const load = (options: Partial<LoadOptions>) =>
    new Producers(relay, ledger, targets, { producers: 4, pauseMs: 40, random: randomOfRun(), ...options }).start();
  const readyz = async () => (await fetch(`${relay.url}/readyz`)).status;
  const freeze = async (ms: number) => {
    server.faults.freeze();
    try {
      await pause(ms);
    } finally {
      server.faults.thaw();
    }
  };
  const linesOf = (part: RegExp) => relay.lines.flatMap(({ msg = "" }) => (part.test(msg) ? [msg] : []));

  it("refuses no post, replaces no connection and stays ready while the server is slow and pauses", async () => {
    const connections = server.connections;
    server.faults.slowDown(300);
    const producers = load({ producers: sized(16, 64), pauseMs: 0, answerMs: 30_000 });
    const unready: number[] = [];
    const watching = new AbortController();
    const watch = (async () => {
      for (; !watching.signal.aborted; await pause(200)) {
        const status = await readyz();
        if (status !== 200) unready.push(status);
      }
    })();
    for (let round = 0; round < pauses; round += 1) {
      await pause(sized(1_000, 5_000));
      await freeze(pauseMs);
    }
    await pause(1_000);
    watching.abort();
    await watch;
    await producers.stop();
    server.faults.slowDown(0);
    const figures = await closeBooks(ledger, account, { owner: account.owner, lives: relay.lives, attemptMs: 60_000 });
    printed("busy", { ...figures, unready: unready.length, replaced: server.connections - connections });
    expect({ refused: figures.unavailable, unanswered: figures.unanswered, unready, connections: server.connections })
      .to.deep.equal({ refused: 0, unanswered: 0, unready: [], connections });
    expect(linesOf(/away|cannot be followed|again/)).to.deep.equal([]);
  });

  it("is not ready within ten seconds of a standstill, and records the outcomes of its attempts after it", async () => {
    const producers = load({});
    let notReadyAfterMs = 0;
    for (const ms of freezesMs) {
      await pause(1_000);
      const from = performance.now();
      const noticed = ms > 10_000 && eventually(readyz, (status) => status === 503, ms).then(() => {
        notReadyAfterMs = Math.max(notReadyAfterMs, performance.now() - from);
      });
      await freeze(ms);
      await noticed;
      await eventually(readyz, (status) => status === 200, 5_000);
    }
    expect(notReadyAfterMs).to.be.below(10_000);
    await pause(1_000);
    await producers.stop();
    const figures = await closeBooks(ledger, account, {
      owner: account.owner, lives: relay.lives, attemptMs: deliveryTimeoutMs + 5_000,
    });
    printed("frozen", { ...figures, notReadyAfterMs: Math.round(notReadyAfterMs) });
    expect(figures.unknownOutcomes).to.equal(0);
  });
});
