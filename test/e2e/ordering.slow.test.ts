import { expect } from "chai";
import type { Json } from "../support/api-client.ts";
import { printed } from "../support/ledger.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

/** `RELAY_TEST_ORDERED` takes another count, such as a million. */
const events = Number(process.env["RELAY_TEST_ORDERED"] ?? sized(4_000, 100_000));
const keys = 200;
const kills = 5;
const stuck = "stuck";

interface Numbered {
  readonly key: string;
  readonly n: number;
}

describe("an ordered destination with a long backlog", function () {
  this.timeout(120_000 + events * 30);
  let receiver: Receiver;
  let relay: RelayProcess;

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it("keeps the order of each key over kills, while a stuck key holds up its own slot only", async () => {
    const newest = new Map<string, number>();
    const [figures, failed] = [{ inversions: 0, repeated: 0 }, new Set<string>()];
    const delivered = new Set<string>();
    let isStuck = true;
    receiver = await startReceiver({
      record: false,
      script: ({ body }: ReceivedRequest) => {
        const { key, n } = JSON.parse(body.toString()) as Numbered;
        const name = `${key} ${n}`;
        if (key === stuck && isStuck) return { status: 500 };
        // Every hundredth event fails once.
        if (n % 100 === 50 && !failed.has(name)) {
          failed.add(name);
          return { status: 500 };
        }
        const before = newest.get(key) ?? -1;
        // A lost lease may repeat the newest event.
        if (n === before) figures.repeated += 1;
        else if (n < before) figures.inversions += 1;
        newest.set(key, Math.max(n, before));
        delivered.add(name);
        return {};
      },
    });
    relay = await RelayProcess.start(receiver, { env: { RELAY_RETRY_SCHEDULE: "50ms" } });
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const { ingest } = await account.destination({
      url: receiver.url("/ordered"), serverRateLimit: 50, ordering: { by: "/key" },
      circuit: { failures: 10_000, timer: 1 },
    });
    const posted = new Map<string, number>();
    const post = async (key: string) => {
      const n = posted.get(key) ?? 0;
      posted.set(key, n + 1);
      const headers = { "x-idempotency-key": `${key} ${n}` };
      // During a restart no request is answered: the same key makes a repetition harmless.
      await eventually(
        () => relay.at(account.producer).post(ingest, { key, n } satisfies Numbered as unknown as Json, headers)
          .catch(() => null),
        (answer) => answer !== null, 60_000);
    };
    const own = Array.from({ length: keys }, (_, at) => `key ${at}`);
    for (let n = 0; n < 3; n += 1) await post(stuck);
    // Each key has one producer, so that its events are accepted in order.
    const producing = Promise.all(Array.from({ length: 40 }, async (_, producer) => {
      for (let n = producer; n < events; n += 40) await post(own[n % keys]!);
    }));
    for (let kill = 1; kill <= kills; kill += 1) {
      await receiver.waitFor(() => delivered.size >= kill * events / (kills + 1), 60_000 + events * 10);
      await relay.kill9();
      await relay.start();
    }
    await producing;
    // Events of the stuck key's slot wait: one of 64, in which some of the keys are.
    const least = events * (1 - 4 / 64);
    await receiver.waitFor(() => delivered.size >= least, 60_000 + events * 10);
    isStuck = false;
    await receiver.waitFor(() => delivered.size === events + 3, 60_000 + events * 10);
    printed("ordered deliveries", { events, keys, kills, ...figures });
    expect(figures.inversions).to.equal(0);
    for (const [key, count] of posted) expect(newest.get(key), key).to.equal(count - 1);
  });
});
