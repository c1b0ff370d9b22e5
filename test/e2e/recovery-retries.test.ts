import { expect } from "chai";
import { printed, readHistories } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

describe("retries that come due at about the same time", function () {
  this.timeout(sized(60_000, 600_000));
  let receiver: Receiver;
  let relay: RelayProcess;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    const env = { RELAY_RETRY_SCHEDULE: "4s", RELAY_RETRY_JITTER: "0.5" };
    relay = await RelayProcess.start(receiver, { env });
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(relay.tail());
    await relay.close();
    await receiver.close();
  });

  it("are none of them early, and all of them soon", async () => {
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const secondAt = new Map<string, number>();
    const ingests: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      receiver.on(`/${n}`, ({ headers }) => {
        if (headers["x-relay-attempt"] === "1") return { status: 500 };
        secondAt.set(String(headers["webhook-id"]), Date.now());
        return {};
      });
      ingests.push((await account.destination({ url: receiver.url(`/${n}`), serverRateLimit: 50 })).ingest);
    }
    const events = sized(2_000, 100_000);
    let posted = 0;
    const producer = async () => {
      for (let n = posted++; n < events; n = posted++) {
        await account.producer.post(ingests[n % ingests.length] ?? "", { n });
      }
    };
    await Promise.all(Array.from({ length: 20 }, producer));
    await eventually(async () => secondAt.size, (count) => count === events, sized(20_000, 300_000));
    const late: number[] = [];
    for (const [id, facts] of await readHistories(account.owner)) {
      const planned = facts.find(({ type }) => type === "RetryScheduled")?.data["nextAttemptAt"];
      late.push((secondAt.get(id) ?? NaN) - Date.parse(String(planned)));
    }
    late.sort((a, b) => a - b);
    const at = (share: number) => late[Math.floor(late.length * share)] ?? NaN;
    printed("ms after the planned moment", {
      events: late.length, least: at(0), median: at(0.5), p99: at(0.99), most: at(1 - 1e-9),
    });
    expect(late).to.have.length(events);
    expect(at(0), "early").to.be.at.least(0);
    expect(at(0.99), "99 in 100").to.be.at.most(1_000);
    expect(at(1 - 1e-9), "the last").to.be.at.most(5_000);
  });
});
