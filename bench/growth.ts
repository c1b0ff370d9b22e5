import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { JsonEventCodec } from "../src/adapters/event-codec/event-codec.ts";
import { openEmbeddedEventStore } from "../src/adapters/embedded-event-store/embedded-event-store.ts";
import { SystemClock } from "../src/adapters/system/system-clock.ts";
import { startReceiver, type Receiver } from "../test/support/receiver.ts";
import { eventually, openAccount, type Account } from "../test/support/relay.ts";
import { RelayProcess } from "../test/support/relay-process.ts";
import { fillLog } from "../test/support/relay-process-fill.ts";
import { inspected, memoryInUse } from "../test/support/relay-process-heap.ts";
import { pause } from "./support/clock.ts";
import { cpuOf, cpuSince, total } from "./support/cpu.ts";
import type { Figure, LedgerLine, Report } from "./support/report.ts";
import { sized } from "./support/size.ts";
import { median, percentilesOf } from "./support/statistics.ts";

/** Events that wait, each an entry of the log. */
const backlogs = sized([10_000, 100_000], [10_000, 100_000, 1_000_000]);
/** Destinations that have nothing to do; each has had one event. */
const idle = sized([20, 200, 2_000], [100, 1_000, 10_000]);
const appended = 2_000;
const asked = 60;
const patienceMs = 600_000;
/** A lane that has nothing to do is let go of after this time, see src/workers/delivery/delivery-worker.ts. */
const lanesKeptMs = 36_000;
const mebibyte = 2 ** 20;

/** What a relay costs whose log holds so many events that all wait. */
interface Backlog {
  readonly events: number;
  /** The first start, which projects all of it, the read models being gone. */
  readonly rebuildMs: number;
  readonly scanMs: number;
  readonly startMs: number;
  /** From the start after a kill -9 until it is ready, and until lists answer. */
  readonly recoveryMs: number;
  readonly listedMs: number;
  /** On the heap of the main thread with its buffers, and of the process, MiB. */
  readonly memory: number;
  readonly resident: number;
  readonly appendUs: number;
  readonly listMs: number;
  readonly lastPageMs: number;
  readonly getMs: number;
  readonly bytesPerEvent: number;
  readonly total: number;
}

/** What a relay costs that has so many destinations. */
interface Idle {
  readonly destinations: number;
  readonly memory: number;
  readonly startMs: number;
  readonly appendUs: number;
  readonly timers: number;
}

/** P11, P12, P14, and whether anything grows with the log, the backlog, the tenants or the destinations. */
export async function growth(): Promise<Report> {
  const receiver = await startReceiver({ record: false });
  try {
    const waiting: Backlog[] = [];
    for (const events of backlogs) waiting.push(await withRelay(receiver, (relay) => backlog(relay, receiver, events)));
    const resting: Idle[] = [];
    for (const count of idle) resting.push(await withRelay(receiver, (relay) => destinations(relay, receiver, count)));
    const ledger: LedgerLine[] = waiting.map(({ events, total: listed }) => ({
      what: "events waiting and appended = listed", left: events + 2 * appended, right: listed,
    }));
    return { name: "growth", figures: figuresOf(waiting, resting), ledger, rounds: { waiting, resting } };
  } finally {
    await receiver.close();
  }
}

async function withRelay<T>(receiver: Receiver, measure: (relay: RelayProcess) => Promise<T>): Promise<T> {
  const relay = new RelayProcess(receiver, { nodeFlags: inspected, env: { RELAY_LOG_LEVEL: "info" } });
  try {
    await relay.start();
    return await measure(relay);
  } finally {
    await relay.close();
  }
}

async function backlog(relay: RelayProcess, receiver: Receiver, events: number): Promise<Backlog> {
  const account = await openAccount(relay.url);
  const held = await account.destination({ url: receiver.url("/held") });
  await account.owner.patch(`/api/v1/destinations/${held.id}`, { status: "inactive" });
  const { ingest } = await account.destination({ url: receiver.url("/quick"), serverRateLimit: 100 });
  const [key] = (await account.owner.get("/api/v1/api-keys"))["items"] as [{ id: string }];
  await relay.sigterm();
  await fillLog(relay.dataDir, { tenantId: account.tenantId, destinationId: held.id, apiKeyId: key.id }, events);
  const scanMs = await scan(relay.dataDir);
  // Without its checkpoint the forwarder begins at the log's end: what was put into it here is the due index's.
  for (const file of ["read-models.db", "state.db"]) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(relay.dataDir, `${file}${suffix}`), { force: true });
  }
  const { stdout, stderr } = await relay.command("rebuild");
  const rebuildMs = Number(/ in ([\d.]+) s/.exec(stdout)?.[1] ?? Number.NaN) * 1000;
  if (Number.isNaN(rebuildMs)) throw new Error(stderr);
  const startMs = await quickestStart(relay);
  await listed(relay, account);
  await append(relay, account, ingest, receiver);
  await relay.kill9();
  const recoveryMs = await started(relay);
  const from = performance.now();
  const count = await listed(relay, account);
  const listedMs = performance.now() - from;
  const appendUs = await append(relay, account, ingest, receiver);
  const [event] = (await page(relay, account, "Qt=1"))["items"] as [{ id: string }];
  return {
    events, rebuildMs, scanMs, startMs, recoveryMs, listedMs, appendUs,
    memory: (await memoryInUse(relay)) / mebibyte,
    resident: residentBytes(relay.pid) / mebibyte,
    listMs: await timed(() => page(relay, account, "Qt=20&Status=Pending&CpOrd=acceptedAt&TpOrd=Asc")),
    lastPageMs: await timed(() => page(relay, account, "Qt=20&Pg=100")),
    getMs: await timed(() => relay.at(account.owner).get(`/api/v1/events/${event.id}`)),
    bytesPerEvent: statSync(join(relay.dataDir, "log.db")).size / events,
    total: count + appended,
  };
}

async function destinations(relay: RelayProcess, receiver: Receiver, count: number): Promise<Idle> {
  receiver.on("/idle", () => ({}));
  const perTenant = 100;
  const accounts: { readonly account: Account; readonly ingest: string }[] = [];
  while (accounts.length < count) {
    const account = await openAccount(relay.url);
    for (let n = 0; n < perTenant && accounts.length < count; n += 1) {
      accounts.push({ account, ingest: (await account.destination({ url: receiver.url("/idle") })).ingest });
    }
  }
  const before = receiver.received;
  for (const { account, ingest } of accounts) await account.producer.post(ingest, {});
  await receiver.waitFor(({ received }) => received - before >= count, patienceMs);
  const [first] = accounts;
  if (!first) throw new Error("no destination");
  const { account } = first;
  const { ingest } = await account.destination({ url: receiver.url("/quick"), serverRateLimit: 100 });
  const appendUs = await append(relay, account, ingest, receiver);
  await pause(lanesKeptMs);
  // Any change ends what is remembered of producers, which is theirs and not the destinations'.
  await account.destination({ url: receiver.url("/idle") });
  await account.producer.post(ingest, {});
  const memory = (await memoryInUse(relay)) / mebibyte;
  const timers = await relay.metric('nodejs_active_resources{type="Timeout"}');
  await relay.sigterm();
  return { destinations: count, memory, timers, appendUs, startMs: await quickestStart(relay) };
}

/** Reads the whole log as a subscriber would, and does nothing with it; ms. */
async function scan(dataDir: string): Promise<number> {
  const store = await openEmbeddedEventStore({ dataDir, codec: new JsonEventCodec(), clock: new SystemClock() });
  const from = performance.now();
  for (let after = ""; ;) {
    const { upTo } = await store.readLog(after, 4_000);
    if (upTo === after) break;
    after = upTo;
  }
  const ms = performance.now() - from;
  await store.close();
  return ms;
}

/** Starts the relay; ms until it is ready. */
async function started(relay: RelayProcess): Promise<number> {
  await relay.start();
  const { startedAt, readyAt } = relay.lives.at(-1) ?? {};
  return Number(readyAt) - Number(startedAt);
}

/** The best of three: others use the machine, too. */
async function quickestStart(relay: RelayProcess): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await relay.sigterm();
    times.push(await started(relay));
  }
  return Math.min(...times);
}

function page(relay: RelayProcess, account: Account, query: string) {
  return relay.at(account.owner).get(`/api/v1/events?${query}`);
}

/** Waits for the read models; how many events they list. */
async function listed(relay: RelayProcess, account: Account): Promise<number> {
  const ask = () => page(relay, account, "Qt=1").catch(() => null);
  return Number((await eventually(ask, (answer) => answer !== null, patienceMs))?.["total"]);
}

/** CPU of the whole process for each event that is taken in, delivered and recorded, µs. */
async function append(relay: RelayProcess, account: Account, ingest: string, receiver: Receiver): Promise<number> {
  const delivered = receiver.received + appended;
  const producer = relay.at(account.producer);
  const before = cpuOf(relay.pid);
  let posted = 0;
  const post = async () => {
    while (posted < appended) {
      posted += 1;
      await producer.post(ingest, { text: "x".repeat(1_000) }, { "x-idempotency-key": crypto.randomUUID() });
    }
  };
  await Promise.all(Array.from({ length: 50 }, post));
  await receiver.waitFor(({ received }) => received >= delivered, patienceMs);
  await listed(relay, account);
  return (total(cpuSince(relay.pid, before)) / appended) * 1000;
}

/** The middle one of many, one after the other, ms. */
async function timed(ask: () => Promise<unknown>): Promise<number> {
  const times = new Float64Array(asked);
  for (let n = 0; n < asked; n += 1) {
    const from = performance.now();
    await ask();
    times[n] = performance.now() - from;
  }
  return percentilesOf(times).p50;
}

function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096;
}

function figuresOf(waiting: readonly Backlog[], resting: readonly Idle[]): Figure[] {
  const first = waiting[0]!;
  const last = waiting.at(-1)!;
  const fewest = resting[0]!;
  const most = resting.at(-1)!;
  const grows = (id: string, what: string, of: (one: Backlog) => number, unit: string): Figure => ({
    id, what: `${what}, ${last.events} ÷ ${first.events} waiting`, measured: of(last) / of(first),
    note: waiting.map((one) => `${one.events}: ${of(one).toPrecision(3)} ${unit}`).join(", "),
  });
  const perDestination = ((most.memory - fewest.memory) * mebibyte) / (most.destinations - fewest.destinations);
  const memory = grows("P11", "heap of the main thread", (one) => one.memory, "MiB");
  return [
    { ...memory, bounds: { better: "lower", floor: 1.5, aim: 1.1 } },
    {
      id: "P12", what: "memory of an idle destination", measured: perDestination,
      bounds: { better: "lower", floor: 1024, aim: 300, unit: "B" },
      note: resting.map((one) => `${one.destinations}: ${one.memory.toFixed(1)} MiB, ${one.timers} timers`).join("; "),
    },
    {
      id: "P14", what: "rebuild, entries/s ÷ scan of the log",
      bounds: { better: "higher", floor: 0.3, aim: 0.5 },
      measured: median(waiting.slice(-1).map(({ scanMs, rebuildMs }) => scanMs / rebuildMs)),
      note: waiting.map(({ events, scanMs, rebuildMs }) =>
        `${events}: scan ${Math.round(events / scanMs)}/ms, rebuild ${(events / rebuildMs).toFixed(1)}/ms`).join(", "),
    },
    grows("start", "time until ready", (one) => one.startMs, "ms"),
    grows("recovery", "the same after kill -9", (one) => one.recoveryMs, "ms"),
    grows("listed", "then until lists answer", (one) => one.listedMs, "ms"),
    grows("resident", "memory of the process", (one) => one.resident, "MiB"),
    grows("append", "CPU per event taken in and delivered", (one) => one.appendUs, "µs"),
    grows("list", "a list's first page", (one) => one.listMs, "ms"),
    grows("page 100", "a list's page 100", (one) => one.lastPageMs, "ms"),
    grows("get", "one event", (one) => one.getMs, "ms"),
    {
      id: "append at", what: `CPU per event, ${most.destinations} ÷ ${fewest.destinations} destinations`,
      measured: most.appendUs / fewest.appendUs,
      note: resting.map((one) => `${one.destinations}: ${one.appendUs.toFixed(0)} µs`).join(", "),
    },
    {
      id: "start at", what: `time until ready, ${most.destinations} ÷ ${fewest.destinations} destinations`,
      measured: most.startMs / fewest.startMs,
      note: resting.map((one) => `${one.destinations}: ${one.startMs} ms`).join(", "),
    },
  ];
}
