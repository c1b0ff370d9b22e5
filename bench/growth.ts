import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedEventStore } from "../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../src/engines/event-codec/event-codec.ts";
import { SystemClock } from "../src/engines/system/system-clock.ts";
import { startReceiver, type Receiver } from "../test/support/receiver.ts";
import { openAccount } from "../test/support/relay.ts";
import type { RelayProcess } from "../test/support/relay-process.ts";
import { fillLog } from "../test/support/relay-process-fill.ts";
import { memoryInUse } from "../test/support/relay-process-heap.ts";
import { append, appended, listed, page, quickestStart, started, withRelay } from "./support/inspected-relay.ts";
import type { Figure, LedgerLine, Report } from "./support/report.ts";
import { sized } from "./support/size.ts";
import { median, percentilesOf } from "./support/statistics.ts";

/** Events that wait, each an entry of the log. */
const backlogs = sized([10_000, 100_000], [10_000, 100_000, 1_000_000]);
const asked = 60;
const mebibyte = 2 ** 20;

/** The cost of a relay whose log holds so many events, all of them waiting. */
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

/** P11, P14, and whether anything else grows with the log and the backlog. */
export async function growth(): Promise<Report> {
  const receiver = await startReceiver({ record: false });
  try {
    const waiting: Backlog[] = [];
    for (const events of backlogs) waiting.push(await withRelay(receiver, (relay) => backlog(relay, receiver, events)));
    const ledger: LedgerLine[] = waiting.map(({ events, total: listed }) => ({
      what: "events waiting and appended = listed", left: events + 2 * appended, right: listed,
    }));
    return { name: "growth", figures: figuresOf(waiting), ledger, rounds: { waiting } };
  } finally {
    await receiver.close();
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
  // Without its checkpoint the forwarder begins at the log's end: the events that were put there come by the due index.
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

/** The median duration of many calls, one after the other, ms. */
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

function figuresOf(waiting: readonly Backlog[]): Figure[] {
  const first = waiting[0]!;
  const last = waiting.at(-1)!;
  const grows = (id: string, what: string, of: (one: Backlog) => number, unit: string): Figure => ({
    id, what: `${what}, ${last.events} ÷ ${first.events} waiting`, measured: of(last) / of(first),
    note: waiting.map((one) => `${one.events}: ${of(one).toPrecision(3)} ${unit}`).join(", "),
  });
  const memory = grows("P11", "heap of the main thread", (one) => one.memory, "MiB");
  return [
    { ...memory, bounds: { better: "lower", floor: 1.5, aim: 1.1 } },
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
  ];
}
