import { timestamp } from "../src/kernel/domain/time.ts";
import type { ApiClient } from "../test/support/api-client.ts";
import { makeAuthority } from "../test/support/tls.ts";
import { dataSet, type DataSet } from "./data/data-set.ts";
import { listPath, questionsOf, within, type ListQuestion } from "./data/questions.ts";
import { acceptedMs, tenantCount } from "./data/recipe.ts";
import { Asker } from "./support/asker.ts";
import { readLines, type LinesRead } from "./support/lines.ts";
import { peakDuring } from "./support/memory.ts";
import { RelayProcess, totalOf } from "./support/relay.ts";
import { byRound, listed, type Figure, type LedgerLine, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { median, percentilesOf, type Percentiles } from "./support/statistics.ts";

/** Stored events of all tenants. */
const events = Number(process.env["EVENTS"] ?? sized(100_000, 1_000_000));
const questions = 1_000;
/** The most that a tenant may have at once. */
const scansAtOnce = 2;
const exportsOfAll = 2;
const noPayloadHasIt = "no payload has this text";

/** One export, and the largest memory of the relay meanwhile, MiB. */
interface Export extends LinesRead {
  readonly peak: number;
}

/** Latencies of lookups and of other tenants' lists, and how many events a second the scans of the round looked at. */
interface Round {
  readonly lookups: Percentiles;
  readonly without: Percentiles;
  readonly besideScans: Percentiles;
  readonly besideExport: Percentiles;
  readonly scanned: number;
}

/** A relay on a set, and the owners of its tenants; the first tenant is the largest. */
interface Scene {
  readonly set: DataSet;
  readonly relay: RelayProcess;
  readonly owners: readonly ApiClient[];
  readonly largest: ApiClient;
  /** Sessions of the largest tenant: a session has one search at a time. */
  readonly searchers: readonly ApiClient[];
}

/** Lookups in much stored data, exports of it, searches in its payloads, and the cost of both to other tenants. */
export async function finding(): Promise<Report> {
  const set = await dataSet(events);
  const environment = { RELAY_ACCESS_TOKEN_TTL: "1d" };
  const relay = await RelayProcess.start({ caPem: makeAuthority().caPem, dataDir: set.dataDir, environment });
  const asker = new Asker(relay.url);
  try {
    const owners: ApiClient[] = [];
    for (const tenant of set.tenants) owners.push((await relay.openAccount(tenant)).owner);
    const searchers: ApiClient[] = [];
    while (searchers.length < scansAtOnce) searchers.push((await relay.openAccount(set.tenants[0]!)).owner);
    const scene: Scene = { set, relay, owners, largest: owners[0]!, searchers };
    // A process keeps memory that it once had: the small exports come first.
    const parts = await exportsOf(scene, rounds, `?To=${timestamp(acceptedMs(events / 10, events))}`);
    const whole = await exportsOf(scene, exportsOfAll, "");
    const total = await totalOf(scene.largest, "");
    const lists = await listsOf(scene);
    const texts = await textsOf(scene);
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const one = { lookups: await lookupsOf(scene, asker, texts), ...await measure(scene, asker, lists) };
      // The first round warms everything up and does not count.
      if (round > 0) taken.push(one);
    }
    const ledger = whole.flatMap(({ lines, end }): LedgerLine[] => [
      { what: "events listed = lines exported", left: total, right: lines - 1 },
      { what: "lines exported = the export's own count", left: lines - 1, right: Number(end["count"]) },
    ]);
    return { name: "finding", figures: figuresOf(parts, whole, taken), ledger, rounds: { parts, whole, taken } };
  } finally {
    await asker.close();
    await relay.stop();
  }
}

async function exportsOf({ relay, largest }: Scene, count: number, query: string): Promise<readonly Export[]> {
  const taken: Export[] = [];
  for (let n = 0; n < count; n += 1) {
    const [read, peak] = await peakDuring(relay.pid, readLines(`/api/v1/events/export${query}`, largest));
    taken.push({ ...read, peak });
  }
  return taken;
}

/** Lists of all tenants but the largest, with full pages. */
async function listsOf({ set, owners }: Scene): Promise<readonly ListQuestion[]> {
  const lists: ListQuestion[] = [];
  for (const drawn of questionsOf(0, questions).lists) {
    const question = { ...drawn, tenant: 1 + drawn.tenant % (tenantCount - 1) };
    const query = new URL(listPath(question, set), "http://relay").searchParams;
    for (const name of ["Qt", "Pg", "CpOrd", "TpOrd"]) query.delete(name);
    lists.push(within(question, await totalOf(owners[question.tenant]!, `&${query.toString()}`)));
  }
  return lists;
}

/** Texts to look up in the largest tenant: ids and keys of events, and parts of its destinations' URLs. */
async function textsOf({ largest }: Scene): Promise<readonly string[]> {
  const textsIn = async (path: string, names: readonly string[]) => {
    const { items } = await largest.get(path) as unknown as { readonly items: readonly Record<string, unknown>[] };
    return items.flatMap((item) => names.map((name) => item[name])).filter((text) => typeof text === "string");
  };
  const urls = await textsIn("/api/v1/destinations?Qt=100", ["url"]);
  return [
    ...await textsIn("/api/v1/events?Qt=100&View=summary", ["id", "idempotencyKey", "eventType", "ownerId"]),
    ...urls.map((url) => url.slice(url.indexOf("//") + 2, 40)),
  ];
}

async function lookupsOf({ largest }: Scene, asker: Asker, texts: readonly string[]): Promise<Percentiles> {
  const times = new Float64Array(texts.length);
  for (const [at, text] of texts.entries()) {
    const { status, ms } = await asker.get(`/api/v1/lookup?Q=${encodeURIComponent(text)}`, largest);
    if (status !== 200) throw new Error(`a lookup was answered ${status}`);
    times[at] = ms;
  }
  return percentilesOf(times);
}

async function measure(
  scene: Scene, asker: Asker, lists: readonly ListQuestion[],
): Promise<Omit<Round, "lookups">> {
  const ask = () => latencyOf(scene, asker, lists);
  const without = await ask();
  let isOver = false;
  const scans = scene.searchers.map((searcher) => scanUntil(searcher, () => isOver));
  const besideScans = await ask();
  isOver = true;
  const scanned = (await Promise.all(scans)).reduce((sum, rate) => sum + rate, 0);
  const enough = new AbortController();
  const exporting = exportUntil(scene, enough.signal);
  const besideExport = await ask();
  enough.abort();
  await exporting;
  return { without, besideScans, besideExport, scanned };
}

async function latencyOf(
  { set, owners }: Scene, asker: Asker, lists: readonly ListQuestion[],
): Promise<Percentiles> {
  const times = new Float64Array(lists.length);
  for (const [at, list] of lists.entries()) {
    const { status, ms } = await asker.get(listPath(list, set), owners[list.tenant]!);
    if (status !== 200) throw new Error(`a list was answered ${status}`);
    times[at] = ms;
  }
  return percentilesOf(times);
}

/** Searches all payloads of a tenant, again and again; answers how many events a second were looked at. */
async function scanUntil(searcher: ApiClient, isOver: () => boolean): Promise<number> {
  const query = new URLSearchParams({ Text: noPayloadHasIt });
  let [scanned, ms] = [0, 0];
  while (!isOver()) {
    const read = await readLines(`/api/v1/events/search?${query.toString()}`, searcher);
    scanned += Number(read.end["scanned"]);
    ms += read.ms;
    const cursor = read.end["nextCursor"];
    if (typeof cursor === "string") query.set("Cursor", cursor);
    else query.delete("Cursor");
  }
  return (scanned / ms) * 1000;
}

/** Exports all of the largest tenant's events, again and again. */
async function exportUntil({ largest }: Scene, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await readLines("/api/v1/events/export", largest, over).catch((error: unknown) => {
      if (!over.aborted) throw error;
    });
  }
}

function figuresOf(parts: readonly Export[], whole: readonly Export[], taken: readonly Round[]): Figure[] {
  const peaks = (exports: readonly Export[]) => exports.map(({ peak }) => peak);
  const lines = (exports: readonly Export[]) => exports[0]?.lines ?? NaN;
  const rates = whole.map((one) => (one.lines / one.ms) * 1000);
  const p99 = (side: "without" | "besideScans" | "besideExport") => taken.map((round) => round[side].p99);
  const ratios = (side: "besideScans" | "besideExport") => taken.map((round) => round[side].p99 / round.without.p99);
  const beside = (side: "besideScans" | "besideExport") => ({
    measured: median(ratios(side)),
    note: `p99 in ms by round, without: ${listed(p99("without"), 2)}; beside: ${listed(p99(side), 2)}; ` +
      `${questions} questions a round, the median of the rounds' ratios; ${byRound(ratios(side))}`,
  });
  const scanned = taken.map((round) => round.scanned);
  const lookups = taken.map((round) => round.lookups.p95);
  return [
    {
      id: "F1", what: `memory of the relay, export of ${lines(whole)} ÷ of ${lines(parts)} lines`,
      bounds: { better: "lower", floor: 1.2, aim: 1.1 },
      measured: Math.max(...peaks(whole)) / Math.max(...peaks(parts)),
      note: `largest in MiB by export, of a tenth: ${listed(peaks(parts))}; of all: ${listed(peaks(whole))}`,
    },
    { id: "F2", what: "lines of an export a second", measured: median(rates), note: `by export: ${listed(rates)}` },
    {
      id: "F3", what: `another tenant's lists, p99, beside ${scansAtOnce} searches ÷ without`,
      bounds: { better: "lower", floor: 1.5, aim: 1.1 }, ...beside("besideScans"),
    },
    { id: "F3+", what: "the same beside an export ÷ without", ...beside("besideExport") },
    {
      id: "F4", what: `events a second that ${scansAtOnce} searches look at`, measured: median(scanned),
      note: `by round: ${listed(scanned)}`,
    },
    {
      id: "F5", what: "a lookup, p95", bounds: { better: "lower", floor: 50, aim: 20, unit: "ms" },
      measured: median(lookups), note: `by round: ${listed(lookups, 2)}`,
    },
  ];
}
