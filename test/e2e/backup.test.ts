import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { ApiClient, text, type Json } from "../support/api-client.ts";
import { Ledger, printed } from "../support/ledger.ts";
import { documentHashes, stopCovered } from "../support/ledger-snapshot.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { Producers, randomOfRun } from "../support/relay-process-load.ts";
import { sized } from "../support/size.ts";

const env = { RELAY_DELIVERY_TIMEOUT: "2s", RELAY_RETRY_SCHEDULE: "300ms" };

describe("a backup under load, restored", function () {
  this.timeout(sized(90_000, 600_000));

  it("has all events acknowledged before it, and repeats only attempts that were in flight", async () => {
    const receiver = await startReceiver({ record: false });
    const relay = new RelayProcess(receiver, { env });
    const second = new RelayProcess(receiver, { env });
    try {
      await relay.start();
      const random = randomOfRun();
      const ledger = new Ledger();
      const sent: string[] = [];
      const account = await openAccount(relay.url, { maxTrys: 10_000 });
      const target = async (path: string, script: Parameters<Ledger["receiving"]>[0]) => {
        receiver.on(path, ledger.receiving((seen) => {
          sent.push(seen.eventId);
          return script(seen);
        }));
        const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: 20 });
        return { account, ingest };
      };
      const targets = [
        await target("/quick", () => ({})),
        await target("/slow", () => ({ delayMs: random() * 500 })),
        await target("/failing", ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 })),
      ];
      const producers = new Producers(relay, ledger, targets, { producers: 4, pauseMs: 5, random }).start();
      await eventually(async () => ledger.count, (count) => count > sized(100, 10_000), 60_000);
      const before = ledger.eventIdsOf(account);
      const folder = join(relay.dataDir, "..", "backup");
      expect((await relay.command("backup", folder)).code).to.equal(0);
      expect(existsSync(join(folder, "master.key")), "the master key in the backup").to.equal(false);
      await producers.stop();
      await relay.sigterm();

      cpSync(folder, second.dataDir, { recursive: true });
      cpSync(join(relay.dataDir, "master.key"), join(second.dataDir, "master.key"));
      const { accepted, finished } = eventsOf(second.dataDir);
      const inFlight = without(accepted, finished);
      expect(without(before, accepted), "acknowledged, and not in the backup").to.deep.equal([]);
      sent.length = 0;
      await second.start();
      const { email, password } = account;
      const session = await new ApiClient(second.url).post("/api/v1/auth/login", { email, password });
      const owner = new ApiClient(second.url, { authorization: `Bearer ${text(session, "accessToken")}` });
      const count = async (filter: string) => Number((await owner.get(`/api/v1/events?Qt=1${filter}`))["total"]);
      await eventually(() => count("&Status=Succeeded").catch(() => -1), (done) => done === accepted.size, 30_000);
      expect(await count("")).to.equal(accepted.size);
      const figures = { before: before.length, accepted: accepted.size, inFlight: inFlight.length, sent: sent.length };
      printed("restored", figures);
      expect(inFlight.length, "events in flight").to.be.greaterThan(0);
      expect(without(sent, new Set(inFlight)), "sent again though finished").to.deep.equal([]);
      await stopCovered(second, owner);
      const hashes = documentHashes(second.dataDir);
      expect((await second.command("rebuild")).code).to.equal(0);
      expect(documentHashes(second.dataDir)).to.deep.equal(hashes);
    } finally {
      await relay.close();
      await second.close();
      await receiver.close();
    }
  });
});

/** The events in a log file, and the finished ones among them. */
function eventsOf(dataDir: string): { readonly accepted: Set<string>; readonly finished: Set<string> } {
  const log = new DatabaseSync(join(dataDir, "log.db"), { readOnly: true });
  const of = (type: string) => new Set(log.prepare("SELECT data FROM log WHERE type = ?").all(type)
    .map(({ data }) => text(JSON.parse(String(data)) as Json, "eventId")));
  const events = { accepted: of("EventAccepted"), finished: of("DeliverySucceeded") };
  log.close();
  return events;
}

function without(ids: Iterable<string>, others: ReadonlySet<string>): string[] {
  return [...ids].filter((id) => !others.has(id));
}
