import { setTimeout as pause } from "node:timers/promises";
import { startReceiver, type Receiver } from "../test/support/receiver.ts";
import { openAccount, type Account } from "../test/support/relay.ts";
import type { RelayProcess } from "../test/support/relay-process.ts";
import { dataInUse } from "../test/support/relay-process-heap.ts";
import { append, appended, patienceMs, quickestStart, withRelay } from "./support/inspected-relay.ts";
import type { Figure, Report } from "./support/report.ts";
import { sized } from "./support/size.ts";

/** Destinations that have nothing to do; each has had one event. */
const counts = sized([20, 200, 2_000], [100, 1_000, 10_000]);
const perTenant = 100;
/** Cached records unused for this long are evicted (src/kernel/tools/recently-used.ts); idle dispatchers end sooner. */
const forgottenMs = 66_000;
const mebibyte = 2 ** 20;

/** The cost of a relay with so many destinations. */
interface Idle {
  readonly destinations: number;
  /** On the heap of the main thread with its buffers, without compiled code, bytes. */
  readonly memory: number;
  readonly startMs: number;
  readonly appendUs: number;
  readonly timers: number;
}

/** P12, and whether anything else grows with the destinations. */
export async function idle(): Promise<Report> {
  const receiver = await startReceiver({ record: false });
  try {
    receiver.on("/idle", () => ({}));
    const resting: Idle[] = [];
    for (const count of counts) {
      resting.push(await withRelay(receiver, (relay) => destinations(relay, receiver, count)));
    }
    const posted = resting.reduce((sum, { destinations: count }) => sum + count + appended, 0);
    const ledger = [{ what: "events posted = received", left: posted, right: receiver.received }];
    return { name: "idle", figures: figuresOf(resting), ledger, rounds: { resting } };
  } finally {
    await receiver.close();
  }
}

async function destinations(relay: RelayProcess, receiver: Receiver, count: number): Promise<Idle> {
  const accounts: { readonly account: Account; readonly ingest: string }[] = [];
  while (accounts.length < count) {
    // On a shared machine an answer may be late: no circuit must open for that.
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    for (let n = 0; n < perTenant && accounts.length < count; n += 1) {
      accounts.push({ account, ingest: (await account.destination({ url: receiver.url("/idle") })).ingest });
    }
  }
  const before = receiver.received;
  for (const { account, ingest } of accounts) await account.producer.post(ingest, {});
  await receiver.waitFor(({ received }) => received - before >= count, patienceMs);
  const [first] = accounts;
  if (!first) throw new Error("no destination");
  const { ingest } = await first.account.destination({ url: receiver.url("/quick"), serverRateLimit: 100 });
  const appendUs = await append(relay, first.account, ingest, receiver);
  await pause(forgottenMs);
  const memory = await dataInUse(relay);
  const timers = (await relay.metric('nodejs_active_resources{type="Timeout"}')) ?? 0;
  await relay.sigterm();
  return { destinations: count, memory, timers, appendUs, startMs: await quickestStart(relay) };
}

function figuresOf(resting: readonly Idle[]): Figure[] {
  const fewest = resting[0]!;
  const most = resting.at(-1)!;
  const noted = (of: (one: Idle) => string) => resting.map((one) => `${one.destinations}: ${of(one)}`).join(", ");
  return [
    {
      id: "P12", what: "memory of an idle destination",
      measured: (most.memory - fewest.memory) / (most.destinations - fewest.destinations),
      bounds: { better: "lower", floor: 1024, aim: 300, unit: "B" },
      note: noted(({ memory, timers }) => `${(memory / mebibyte).toFixed(1)} MiB and ${timers} timers`),
    },
    {
      id: "append", what: `CPU per event, ${most.destinations} ÷ ${fewest.destinations} destinations`,
      measured: most.appendUs / fewest.appendUs,
      note: noted(({ appendUs }) => `${appendUs.toFixed(0)} µs`),
    },
    {
      id: "start", what: `time until ready, ${most.destinations} ÷ ${fewest.destinations} destinations`,
      measured: most.startMs / fewest.startMs,
      note: noted(({ startMs }) => `${startMs} ms`),
    },
  ];
}
